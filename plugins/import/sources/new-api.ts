import type { ImportDraft, Reference } from '../draft.ts';
import { type UpstreamEndpoint, endpointAt, type Vendors } from '../endpoints.ts';
import { ImportedObject, rowsOf } from '../members.ts';
import type { ImportSource } from '../source.ts';
import { channelReasons, channelTypes, plans, silentColumns } from './new-api-channels.ts';
import { readNewApiUsers } from './new-api-users.ts';

/** The table `channels` of new-api. Source: QuantumNous/new-api, model/channel.go, constant/channel.go. */
export const newApi: ImportSource = {
  name: 'new-api',
  title: 'new-api',
  file: 'its table channels as JSON or CSV; with --users, its tables users and user_subscriptions',
  readConfiguration(value, draft, vendors) {
    for (const [index, row] of rowsOf(value, 'channels').entries()) readChannel(row, `[${index}]`, draft, vendors);
  },
  readUsers: readNewApiUsers,
};

const enabled = 1;

function readChannel(row: unknown, path: string, draft: ImportDraft, vendors: Vendors): void {
  const channel = new ImportedObject(row, path, draft);
  for (const column of silentColumns) channel.take(column);
  const name = channel.text('name') ?? `channel ${channel.text('id') ?? ''}`;
  const type = channel.number('type') ?? 0;
  const status = channel.number('status') ?? enabled;
  const models = namesOf(channel.text('models'));
  const mapping = channel.members('model_mapping');
  const keys = keysOf(channel.text('key') ?? '');
  const base = channel.text('base_url');
  const weight = channel.number('weight') ?? 0;
  const priority = -(channel.number('priority') ?? 0);
  const organization = channel.text('openai_organization');
  const info = channel.members('channel_info');
  const statuses = info?.members('multi_key_status_list');
  const groups = namesOf(channel.text('group')).filter((group) => group !== 'default');
  if (groups.length > 0) draft.note(channel.at('group'), 'every customer with paid days may use every model');
  channel.finish(channelReasons);
  if (status !== enabled) return draft.note(path, 'is disabled');
  const endpoint = endpointOf(type, base, vendors);
  if (typeof endpoint === 'string') return draft.note(channel.at('type'), endpoint);
  const isKeyless = vendors.get(endpoint.vendor ?? '')?.auth === 'none';
  const used = keys.filter((_, index) => (statuses?.number(String(index)) ?? enabled) === enabled);
  const usable = [...new Set(used)];
  const upstream = draft.addUpstream(name, {
    ...endpoint,
    keys: isKeyless ? [] : usable.map((key, index) => keyOf(key, name, index, channel.at('key'), draft)),
    ...(organization !== undefined && {
      headers: {
        'OpenAI-Organization': draft.addSecret(`${name}_ORGANIZATION`, organization, channel.at('openai_organization')),
      },
    }),
    from: `channel ${path}: ${name}`,
  });
  if (!isKeyless && usable.length === 0) draft.note(channel.at('key'), 'has no key: export it with the column key');
  for (const model of models) {
    const route = { upstream, model: mapping?.text(model) ?? model, priority, weight: Math.max(weight, 0) };
    draft.addModel(`${path}.models`, { name: model, routes: [route] });
  }
  mapping?.finish();
}

const namesOf = (list: string | undefined) =>
  (list ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

/** Splits the keys of a channel, one per line. */
function keysOf(text: string): string[] {
  return text.split('\n').flatMap((key) => (key.trim() === '' ? [] : [key.trim()]));
}

function keyOf(key: string, name: string, index: number, path: string, draft: ImportDraft): Reference {
  return draft.addSecret(`${name}_API_KEY${index === 0 ? '' : `_${index + 1}`}`, key, path);
}

/** Finds the endpoint of a channel. @returns the reason if it cannot be called from here */
function endpointOf(type: number, base: string | undefined, vendors: Vendors): UpstreamEndpoint | string {
  const known = channelTypes[type];
  if (known === undefined) return `channels of type ${type} are not known to this import`;
  if ('reason' in known) return `${known.name}: ${known.reason}`;
  const { url, path = '/v1', format = 'chat', vendor } = known;
  const plan = plans[base ?? ''];
  const start = (base ?? url)?.replace(/\/+$/, '');
  if (start === undefined) return `${known.name}: has no base_url`;
  const full = plan ?? (start.endsWith(path) ? start : `${start}${path}`);
  const found = endpointAt(full, format, vendors);
  if (found === undefined) return `${known.name}: its base_url is not a URL that an upstream can have`;
  if (vendor !== undefined && found.vendor === undefined) return { vendor, baseUrl: found.baseUrl };
  return found;
}
