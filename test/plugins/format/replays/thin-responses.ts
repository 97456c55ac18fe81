import type { JsonObject } from '#core/platform/json.ts';
import { eventsOf, objects } from '../../../support/readers/answer.ts';
import type { Recording } from './recordings.ts';

/** A way in which endpoints that imitate Responses send less than OpenAI does. */
export interface Thinning {
  readonly name: string;
  /** The data of the events that are left. */
  readonly thin: (events: readonly JsonObject[]) => readonly JsonObject[];
  /** False for streams that do not say what is called: nobody could. */
  readonly hasCalls: boolean;
  readonly hasNames?: boolean;
  /** False where one part of an item cannot be told from the next. */
  readonly hasBorders?: boolean;
  /** True with events that OpenAI does not send. */
  readonly isForeign?: boolean;
}

const ending = /^response\.(completed|incomplete)$/;
const announcements = /\.(output_item|content_part|reasoning_summary_part|reasoning_part)\.(added|done)$/;
const without =
  (...types: readonly RegExp[]) =>
  (events: readonly JsonObject[]) =>
    events.filter(({ type }) => !types.some((one) => one.test(String(type))));
const mapped =
  (change: (event: JsonObject) => JsonObject) =>
  (events: readonly JsonObject[]): JsonObject[] =>
    events.map((event) => change(structuredClone(event)));

function omit(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

const places = ['item_id', 'output_index', 'content_index', 'summary_index', 'sequence_number'];
const withoutPlaces = mapped((event) => omit(event, ...places));
const withoutNumbers = mapped((event) => omit(event, 'sequence_number'));
/** Each response object with only what it cannot do without, and no output at the end. */
const withoutOutput = mapped((event) => {
  const { response, ...others } = event;
  if (response === undefined) return event;
  const { id, usage, status, incomplete_details } = response as JsonObject;
  const kept = { id, usage, status, ...(ending.test(String(event['type'])) && { incomplete_details, output: [] }) };
  return { ...others, response: kept as JsonObject };
});
/** Items without ids, in events and at the end. */
const withoutItemIds = mapped((event) => {
  const { item, response } = event;
  if (item !== undefined) event['item'] = omit(item as JsonObject, 'id', 'status');
  const output = objects((response as JsonObject | undefined)?.['output']).map((one) => omit(one, 'id', 'status'));
  if (response !== undefined) event['response'] = { ...(response as JsonObject), output };
  return omit(event, 'item_id');
});
const shared = mapped((event) => (event['output_index'] === undefined ? event : { ...event, output_index: 0 }));
const chatty = (events: readonly JsonObject[]) =>
  events.flatMap((event) => [{ type: 'response.heartbeat', sequence_number: 0 }, event]);

const chain =
  (...steps: readonly Thinning['thin'][]): Thinning['thin'] =>
  (events) =>
    steps.reduce((left, step) => step(left), events);

export const thinnings: readonly Thinning[] = [
  { name: 'without numbers', thin: withoutNumbers, hasCalls: true },
  { name: 'without ids, indexes and numbers', thin: withoutPlaces, hasCalls: true },
  { name: 'without names of events', thin: (events) => events, hasCalls: true, hasNames: false },
  { name: 'without output at the end', thin: withoutOutput, hasCalls: true },
  { name: 'without a beginning', thin: without(/^response\.(created|in_progress)$/), hasCalls: true },
  { name: 'without announcements and output', thin: chain(without(announcements), withoutOutput), hasCalls: false },
  {
    name: 'of deltas without places and an empty end',
    thin: chain(without(announcements), withoutPlaces, withoutOutput),
    hasCalls: false,
  },
  { name: 'without announcements', thin: without(announcements), hasCalls: true },
  {
    name: 'of deltas and a whole end',
    thin: chain(without(/\.(added|done)$/), withoutPlaces),
    hasCalls: true,
    hasBorders: false,
  },
  {
    name: 'of items only',
    thin: chain(
      without(
        /\.(delta|added)$/,
        /\.(text|arguments|input|part|refusal)\.done$/,
        /_(text|part|arguments|input)\.done$/,
      ),
      withoutOutput,
    ),
    hasCalls: true,
  },
  { name: 'of its end only', thin: (events) => events.filter(({ type }) => ending.test(String(type))), hasCalls: true },
  { name: 'without ids of items', thin: withoutItemIds, hasCalls: true },
  { name: 'without ids of items and output', thin: chain(withoutItemIds, withoutOutput), hasCalls: true },
  { name: 'with the index 0 on every item', thin: shared, hasCalls: true },
  { name: 'with events of the vendor', thin: chatty, hasCalls: true, isForeign: true },
  { name: 'without ends of items', thin: without(/output_item\.done$/), hasCalls: true },
  { name: 'without beginnings of items', thin: without(/output_item\.added$/), hasCalls: true },
  { name: 'without parts', thin: without(/_part\.(added|done)$/), hasCalls: true },
  { name: 'without ends of texts', thin: without(/_text\.done$/, /(arguments|input)\.done$/), hasCalls: true },
];

/** The stream of a recording as a thinner endpoint would send it. */
export function thinned({ stream }: Recording, { thin, hasNames = true }: Thinning): Buffer {
  const events = eventsOf(stream.toString()).map(({ data }) => JSON.parse(data) as JsonObject);
  const written = thin(events).map((given, number) => {
    const event = given['sequence_number'] === undefined ? given : { ...given, sequence_number: number };
    const name = hasNames ? `event: ${String(event['type'])}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return Buffer.from(written.join(''));
}
