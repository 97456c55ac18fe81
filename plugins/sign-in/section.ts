import { providerTitles } from '#core/business/accounts/provider-titles.ts';
import { suggest } from '#core/config/file/mistake.ts';
import { type CheckContext, defineSection, type Report, rejectTestMember } from '#core/config/section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { array, boolean, object, string, type Infer } from '#core/platform/schema.ts';
import { providerConfig, unusableProviders } from './provider-config.ts';

const url = string({ pattern: '^https?://[^\\s/]\\S*$' }, 'URL.');

const providerSchema = object(['client_id', 'client_secret'], {
  client_id: string(
    { maxLength: 1000 },
    'Client id of the app that you registered with the provider. If empty, the provider is off.',
  ),
  client_secret: string({ maxLength: 5000, writeOnly: true }, 'Client secret of that app.'),
  title: string({ minLength: 1, maxLength: 40 }, 'Name on the button. Default: the provider’s name.'),
  scope: array({ items: string() }, 'Scopes to request instead of the provider’s default ones.'),
  trust_email: boolean(
    { default: false },
    'Set to true if the provider returns only verified e-mail addresses. Needed for providers that do not send email_verified, but never for google and github.',
  ),
  config: {
    type: 'object',
    additionalProperties: string(),
    description:
      'Options that @hapi/bell needs for some providers: { uri: https://github.example.com }, { domain: … }.',
  },
  endpoints: object('Other URLs of the provider, for tests; rejected in production.', {
    authorize: url,
    token: url,
    profile: url,
    emails: url,
  }),
});

export type ProviderSettings = Infer<typeof providerSchema>;

export const signInSection = defineSection({
  name: 'sign_in',
  fixed: true,
  schema: {
    type: 'object',
    description: 'Sign-in providers by name: google, github, … Changes take effect at the next start.',
    default: {},
    additionalProperties: providerSchema,
  },
  check(providers, report, all) {
    for (const [name, settings] of Object.entries(providers)) checkProvider(name, settings, report, all);
    const [first] = Object.entries(providers).find(([, { client_id }]) => client_id !== '') ?? [];
    if (first !== undefined && all.isProduction && (all.get(service).base_url ?? '') === '')
      report(
        ['sign_in', first],
        'sends people back to service.base_url, which is not set',
        'set service: { base_url: https://… }, the public URL of this gateway',
      );
  },
});

function checkProvider(name: string, settings: ProviderSettings, report: Report, { production }: CheckContext): void {
  const { client_id, client_secret, endpoints, config } = settings;
  if (!Object.hasOwn(providerTitles, name)) {
    report(['sign_in', name], 'is not a known provider', suggest(name, Object.keys(providerTitles)), true);
  } else if (client_id !== '' && Object.hasOwn(unusableProviders, name)) {
    report(['sign_in', name], `cannot sign anybody in: it ${unusableProviders[name]}`, 'use another provider', true);
  } else if (client_id !== '') checkConfig(name, config, report);
  if ((client_id === '') !== (client_secret === '')) {
    const missing = client_id === '' ? 'client_id' : 'client_secret';
    report(['sign_in', name, missing], 'is empty', 'set both client_id and client_secret, or leave both empty');
  }
  const isPlain = config?.['uri']?.startsWith('http:') === true;
  if (endpoints !== undefined) rejectTestMember(['sign_in', name, 'endpoints'], production, report);
  if (isPlain && production !== undefined) report(['sign_in', name, 'config', 'uri'], 'is not HTTPS', 'use https://');
}

/** The gateway would fail to start without an option that @hapi/bell requires. */
function checkConfig(name: string, config: ProviderSettings['config'] = {}, report: Report): void {
  const { required, optional } = providerConfig[name] ?? { required: [], optional: Object.keys(config) };
  const path = ['sign_in', name, 'config'];
  for (const key of required) {
    const example = key === 'domain' ? 'example.auth0.com' : 'https://id.example.com';
    if (config[key] === undefined)
      report([...path, key], 'is missing', `add config: { ${key}: ${example} } with the address of your organization`);
  }
  for (const [key, value] of Object.entries(config)) {
    if (!required.includes(key) && !optional.includes(key)) {
      report([...path, key], 'is not a known key', suggest(key, [...required, ...optional]), true);
    } else if (key === 'uri' && !/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
      report([...path, key], 'is not a URL', 'use one such as https://id.example.com');
    } else if (name === 'salesforce' && key === 'extendedProfile' && value !== 'true') {
      report([...path, key], 'leaves out who signs in', 'remove it');
    } else if (key === 'domain' && !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(value)) {
      report([...path, key], 'is not a host name', 'use one such as example.auth0.com');
    }
  }
}

export interface ConfiguredProvider {
  readonly name: string;
  readonly title: string;
  readonly settings: ProviderSettings;
}

export function listProviders({ section }: Pick<Host, 'section'>): ConfiguredProvider[] {
  return Object.entries(section(signInSection))
    .filter(([, { client_id }]) => client_id !== '')
    .map(([name, settings]) => ({ name, settings, title: settings.title ?? getProviderTitle(name) }));
}

export function getProviderTitle(name: string): string {
  return providerTitles[name] ?? name;
}
