import type { ImportDraft, Reference } from '../draft.ts';
import { type UpstreamEndpoint, findEndpoint, type Vendors } from '../endpoints.ts';
import { ImportedObject, readRows } from '../members.ts';
import type { ImportSource } from '../source.ts';
import { channelReasons, channelTypes, planUrls, ignoredColumns } from './new-api-channels.ts';
import { newApiUserTables } from './new-api-users.ts';

/** The table `channels` of new-api. Source: QuantumNous/new-api, model/channel.go, constant/channel.go. */
export const newApi: ImportSource = {
  name: 'new-api',
  title: 'new-api',
  file: 'its table channels as JSON or CSV; with --users, its tables users and user_subscriptions',
  readConfiguration(value, draft, vendors) {
    for (const [index, row] of readRows(value, 'channels').entries()) importChannel(row, `[${index}]`, draft, vendors);
  },
  userTables: newApiUserTables,
};

const enabledStatus = 1;

function importChannel(row: unknown, path: string, draft: ImportDraft, vendors: Vendors): void {
  const channel = new ImportedObject(row, path, draft);
  for (const column of ignoredColumns) channel.read(column);
  const name = channel.readText('name') ?? `channel ${channel.readText('id') ?? ''}`;
  const type = channel.readNumber('type') ?? 0;
  const status = channel.readNumber('status') ?? enabledStatus;
  const models = splitNames(channel.readText('models'));
  const mapping = channel.readObject('model_mapping');
  const keys = splitKeys(channel.readText('key') ?? '');
  const base = channel.readText('base_url');
  const weight = channel.readNumber('weight') ?? 0;
  const priority = -(channel.readNumber('priority') ?? 0);
  const organization = channel.readText('openai_organization');
  const info = channel.readObject('channel_info');
  const statuses = info?.readObject('multi_key_status_list');
  const groups = splitNames(channel.readText('group')).filter((group) => group !== 'default');
  if (groups.length > 0) draft.note(channel.pathOf('group'), 'every customer with paid days may use every model');
  channel.noteUnread(channelReasons);
  if (status !== enabledStatus) return draft.note(path, 'is disabled');
  const endpoint = resolveEndpoint(type, base, vendors);
  if (typeof endpoint === 'string') return draft.note(channel.pathOf('type'), endpoint);
  const isKeyless = vendors.get(endpoint.vendor ?? '')?.auth === 'none';
  const enabledKeys = keys.filter(
    (_, index) => (statuses?.readNumber(String(index)) ?? enabledStatus) === enabledStatus,
  );
  const uniqueKeys = [...new Set(enabledKeys)];
  const upstream = draft.addUpstream(name, {
    ...endpoint,
    keys: isKeyless ? [] : uniqueKeys.map((key, index) => addKey(key, name, index, channel.pathOf('key'), draft)),
    ...(organization !== undefined && {
      headers: {
        'OpenAI-Organization': draft.addSecret(
          `${name}_ORGANIZATION`,
          organization,
          channel.pathOf('openai_organization'),
        ),
      },
    }),
    from: `channel ${path}: ${name}`,
  });
  if (!isKeyless && uniqueKeys.length === 0)
    draft.note(channel.pathOf('key'), 'has no key: export it with the column key');
  for (const model of models) {
    const route = { upstream, model: mapping?.readText(model) ?? model, priority, weight: Math.max(weight, 0) };
    draft.addModel(`${path}.models`, { name: model, routes: [route] });
  }
  mapping?.noteUnread();
}

const splitNames = (list: string | undefined) =>
  (list ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

function splitKeys(text: string): string[] {
  return text.split('\n').flatMap((key) => (key.trim() === '' ? [] : [key.trim()]));
}

function addKey(key: string, name: string, index: number, path: string, draft: ImportDraft): Reference {
  return draft.addSecret(`${name}_API_KEY${index === 0 ? '' : `_${index + 1}`}`, key, path);
}

/** Returns the reason if the channel cannot be called from here. */
function resolveEndpoint(type: number, base: string | undefined, vendors: Vendors): UpstreamEndpoint | string {
  const channelType = channelTypes[type];
  if (channelType === undefined) return `channels of type ${type} are not known to this import`;
  if ('reason' in channelType) return `${channelType.name}: ${channelType.reason}`;
  const { url, path = '/v1', format = 'chat', vendor } = channelType;
  const planUrl = planUrls[base ?? ''];
  const trimmedUrl = (base ?? url)?.replace(/\/+$/, '');
  if (trimmedUrl === undefined) return `${channelType.name}: has no base_url`;
  const fullUrl = planUrl ?? (trimmedUrl.endsWith(path) ? trimmedUrl : `${trimmedUrl}${path}`);
  const endpoint = findEndpoint(fullUrl, format, vendors);
  if (endpoint === undefined) return `${channelType.name}: its base_url is not a valid upstream URL`;
  if (vendor !== undefined && endpoint.vendor === undefined) return { vendor, baseUrl: endpoint.baseUrl };
  return endpoint;
}
