import type { Request, ResponseObject, ResponseToolkit, RouteOptions, Server } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { type ConfiguredProvider, listProviders } from '../section.ts';
import { type BellProviders, buildProvider, createSecretSettings } from './build.ts';
import { finishSignIn } from './callback.ts';
import { checkStep } from './step.ts';

const stateLifetimeMs = 10 * 60 * 1000;
const accountPickerProviders = new Set(['google', 'github']); // show an account picker even if only one account is signed in

/** Starts a sign-in; the provider sends the reader back to it. */
export function buildProviderPath(name: string): string {
  return `/sign-in/${name}`;
}

/** Must run at startup, while hapi still accepts auth strategies. Throws an Error that names a provider rejected by bell. */
export async function routeProviders(server: Server, host: Host): Promise<void> {
  const providers = listProviders(host);
  if (providers.length === 0) return;
  const bell = await import('@hapi/bell');
  await server.register(bell.plugin as never);
  const password = await readSecret(host.database, 'sign-in');
  const bellProviders = (bell as unknown as { readonly providers: BellProviders }).providers;
  for (const provider of providers) {
    try {
      routeProvider(server, host, provider, bellProviders, password);
    } catch (error) {
      throw new Error(`sign_in.${provider.name} cannot work: ${(error as Error).message}`, { cause: error });
    }
  }
}

function routeProvider(
  server: Server,
  host: Host,
  configured: ConfiguredProvider,
  bellProviders: BellProviders,
  password: string,
): void {
  const { name, settings } = configured;
  const provider = buildProvider(configured, bellProviders);
  const isSecure = host.service.baseUrl.startsWith('https:');
  const cookie = `${isSecure ? '__Host-' : ''}${host.service.prefix}_sign_in_${name.replaceAll('-', '_')}`;
  const strategy = `sign-in-${name}`;
  server.auth.strategy(strategy, 'bell', {
    provider,
    // A different key for each provider, but the same on all instances.
    password: `${password} ${name}`,
    clientId: settings.client_id,
    ...createSecretSettings(provider, settings),
    ...(settings.scope !== undefined && { scope: settings.scope }),
    ...(accountPickerProviders.has(name) && { providerParams: { prompt: 'select_account' } }),
    cookie,
    isSecure,
    // With Strict, the browser would not send the cookie when it returns from the provider.
    isSameSite: 'Lax',
    ttl: stateLifetimeMs,
    // The URL does not use the Host header, which any client can set.
    location: ({ path }: Request) => server.host().service.baseUrl + path,
  } as never);
  const options: RouteOptions = {
    auth: { strategy, mode: 'try' },
    ext: { onPreAuth: { method: (request: Request, h: ResponseToolkit) => checkStep(request, h, cookie) } },
    handler: (request: Request, h: ResponseToolkit): Promise<ResponseObject> => finishSignIn(request, h, name),
  };
  server.route({ method: 'GET', path: buildProviderPath(name), options });
}
