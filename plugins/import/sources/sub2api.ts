import type { ImportDraft } from '../draft.ts';
import { findEndpoint, type Vendors } from '../endpoints.ts';
import { ImportedObject, type Reasons, readRows } from '../members.ts';
import type { ImportSource } from '../source.ts';
import { sub2apiUserTables } from './sub2api-users.ts';

/**
 * Accounts of sub2api, from an administrator's export or from its table of accounts. Source: Wei-Shaw/sub2api,
 * backend/internal/handler/admin/account_data.go, backend/ent/schema/account.go.
 */
export const sub2api: ImportSource = {
  name: 'sub2api',
  title: 'sub2api',
  file: 'its export of accounts; with --users, its tables users and user_subscriptions',
  readConfiguration(value, draft, vendors) {
    for (const [index, row] of readRows(value, 'accounts').entries())
      importAccount(row, `accounts[${index}]`, draft, vendors);
  },
  userTables: sub2apiUserTables,
};

interface Platform {
  readonly url: string;
  readonly path: string;
  readonly format: 'chat' | 'messages' | 'gemini';
}

const platforms: Readonly<Record<string, Platform | undefined>> = {
  anthropic: { url: 'https://api.anthropic.com', path: '/v1', format: 'messages' },
  openai: { url: 'https://api.openai.com', path: '/v1', format: 'chat' },
  gemini: { url: 'https://generativelanguage.googleapis.com', path: '/v1beta', format: 'gemini' },
  grok: { url: 'https://api.x.ai', path: '/v1', format: 'chat' },
};

const typeReasons: Reasons = {
  oauth: 'a subscription login: Daypass uses only API keys',
  'setup-token': 'a subscription login: Daypass uses only API keys',
  upstream: 'another sub2api with subscription logins: Daypass uses only API keys',
  bedrock: 'add the upstream with `credentials.aws`',
  service_account: 'its key is a service account file: add the upstream with `credentials.google`',
};

function importAccount(row: unknown, path: string, draft: ImportDraft, vendors: Vendors): void {
  const account = new ImportedObject(row, path, draft);
  for (const column of ignoredColumns) account.read(column);
  const name = account.readText('name') ?? 'account';
  const platform = platforms[account.readText('platform') ?? ''];
  const type = account.readText('type') ?? '';
  const credentials = account.readObject('credentials');
  const concurrent = account.readNumber('concurrency') ?? 0;
  const priority = account.readNumber('priority') ?? 50;
  const status = account.readText('status') ?? 'active';
  const isSchedulable = String(account.read('schedulable') ?? 'true') !== 'false';
  if (type !== 'apikey')
    return draft.note(
      account.pathOf('type'),
      typeReasons[type] ?? 'accounts of this type are not known to this import',
    );
  account.noteUnread(accountReasons);
  if (status !== 'active' || !isSchedulable) return draft.note(path, 'is disabled');
  if (platform === undefined)
    return draft.note(account.pathOf('platform'), 'accounts of this platform are not known to this import');
  const trimmedUrl = (credentials?.readText('base_url') ?? platform.url).replace(/\/+$/, '');
  const url = trimmedUrl.endsWith(platform.path) ? trimmedUrl : `${trimmedUrl}${platform.path}`;
  const endpoint = findEndpoint(url, platform.format, vendors);
  const key = credentials?.readText('api_key');
  if (endpoint === undefined) return draft.note(`${path}.credentials.base_url`, 'is not a valid upstream URL');
  if (key === undefined) return draft.note(`${path}.credentials`, 'has no api_key');
  const upstream = draft.addUpstream(name, {
    ...endpoint,
    keys: [draft.addSecret(`${name}_API_KEY`, key, `${path}.credentials.api_key`)],
    ...(concurrent >= 1 && { capacity: { concurrent: Math.floor(concurrent) } }),
    from: `${path}: ${name}`,
  });
  addModels(credentials?.readObject('model_mapping'), upstream, priority, path, draft);
  credentials?.noteUnread(credentialReasons);
}

function addModels(
  mapping: ImportedObject | undefined,
  upstream: string,
  priority: number,
  path: string,
  draft: ImportDraft,
): void {
  if (mapping === undefined)
    return draft.note(path, `lists no models: add the models that you serve, with routes to "${upstream}"`);
  for (const name of mapping.names) {
    const model = mapping.readText(name) ?? name;
    draft.addModel(mapping.pathOf(name), { name, routes: [{ upstream, model, priority }] });
  }
}

const ignoredColumns = [
  'id',
  'notes',
  'created_at',
  'updated_at',
  'last_used_at',
  'error_message',
  'rate_multiplier',
  'extra',
] as const;

const accountReasons: Reasons = {
  proxy_key: 'requests to upstreams use no proxy',
  proxy_id: 'requests to upstreams use no proxy',
  expires_at: 'upstreams do not expire: remove this one at that time',
  auto_pause_on_expired: '',
  group_ids: 'every customer with paid days may use every model',
  groups: 'every customer with paid days may use every model',
  load_factor: 'routes of the same priority share requests by their `weight`',
};

const credentialReasons: Reasons = {
  custom_error_codes_enabled: 'upstream statuses are classified automatically: see docs/faults.md',
  custom_error_codes: 'upstream statuses are classified automatically: see docs/faults.md',
  intercept_warmup_requests: 'requests are not answered by the gateway itself',
  temp_unschedulable_enabled: 'circuit breakers decide when an upstream pauses',
  temp_unschedulable_rules: 'circuit breakers decide when an upstream pauses',
};
