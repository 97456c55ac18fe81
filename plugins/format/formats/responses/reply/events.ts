import { member, scalarText } from '../../../wire/members.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { ResponsesEvent, ResponsesReply } from '../../../wire/responses.ts';

/** Events that belong to no item, to an item of any type, or to an audio reply. */
const ofNone =
  'response.created response.queued response.in_progress response.completed response.incomplete response.failed error keepalive ' +
  'response.output_item.added response.output_item.done response.content_part.added response.content_part.done ' +
  'response.audio.delta response.audio.done response.audio.transcript.delta response.audio.transcript.done';
const ends = 'delta done';
const mcpStates = 'in_progress completed failed';
const searchStates = 'in_progress searching completed';
/** Event names by item type, without `response.`, each with its possible endings. */
const ofItems: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  message: { output_text: `${ends} annotation.added`, refusal: ends },
  reasoning: { reasoning_text: ends, reasoning_summary_part: 'added done', reasoning_summary_text: ends },
  function_call: { function_call_arguments: ends },
  custom_tool_call: { custom_tool_call_input: ends },
  mcp_call: { mcp_call_arguments: ends, mcp_call: mcpStates },
  mcp_list_tools: { mcp_list_tools: mcpStates },
  shell_call: { shell_call_command: `added ${ends}` },
  shell_call_output: { shell_call_output_content: ends },
  code_interpreter_call: {
    code_interpreter_call_code: ends,
    code_interpreter_call: 'in_progress interpreting completed',
  },
  file_search_call: { file_search_call: searchStates },
  web_search_call: { web_search_call: searchStates },
  image_generation_call: { image_generation_call: 'in_progress generating partial_image completed' },
  compaction: { compaction: 'compacting' },
};

/**
 * The events of a streamed response, each with the type of the item that it belongs to; undefined if it belongs to no item or
 * to any item. The helpers of the openai SDK throw on every other event. Source: openai 7.55, `ResponseStreamEvent`.
 */
const itemTypes: ReadonlyMap<string, string | undefined> = new Map([
  ...ofNone.split(' ').map((type) => [type, undefined] as const),
  ...Object.entries(ofItems).flatMap(([item, events]) =>
    Object.entries(events).flatMap(([name, all]) =>
      all.split(' ').map((end) => [`response.${name}.${end}`, item] as const),
    ),
  ),
]);

export function isKnownEvent(type: string): boolean {
  return itemTypes.has(type);
}

/** The type of the item that an event belongs to; undefined if it belongs to no item or contains the type. */
export function itemTypeOf(type: string): string | undefined {
  return itemTypes.get(type);
}

/** Vendor names and Open Responses names of events that the SDK knows under other names. */
const renamed: Readonly<Record<string, string>> = {
  'response.reasoning.delta': 'response.reasoning_text.delta',
  'response.reasoning.done': 'response.reasoning_text.done',
  'response.reasoning_part.added': 'response.content_part.added',
  'response.reasoning_part.done': 'response.content_part.done',
  'response.cancelled': 'response.failed',
};
const endings: Readonly<Record<string, string>> = { incomplete: 'response.incomplete', failed: 'response.failed' };

/** The SDK's name for the type of an event. */
export function eventType(given: string, { response }: ResponsesEvent): string {
  if (given !== 'response.done') return Object.hasOwn(renamed, given) ? (renamed[given] as string) : given;
  const status = scalarText(member<ResponsesReply>(response, 'status'));
  return endings[status] ?? 'response.completed';
}

/** Numbers the events of a stream. The upstream's numbers are kept until an event is dropped, is added, or has no number. */
export class EventNumbers {
  #last = -1;
  #isOurs = false;

  /** The next number while the upstream's numbers are kept; undefined once the gateway renumbers. */
  get expected(): number | undefined {
    return this.#isOurs ? undefined : this.next;
  }

  get next(): number {
    return this.#last + 1;
  }

  /**
   * The client's number for an event of the upstream.
   *
   * @param given number in the upstream's stream
   */
  pass(given: JsonValue | undefined): number {
    this.#isOurs ||= typeof given !== 'number' || !Number.isInteger(given) || given <= this.#last;
    return (this.#last = this.#isOurs ? this.#last + 1 : (given as number));
  }

  /** The number for an event that the upstream did not send. */
  insert(): number {
    this.#isOurs = true;
    return ++this.#last;
  }

  skip(): void {
    this.#isOurs = true;
  }
}
