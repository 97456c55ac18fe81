import type { JsonValue } from '#core/platform/json.ts';
import { readMember, scalarToText } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesReply } from '../../../wire/responses.ts';

/** Events about the response, about items of any type, or about an audio reply. */
const itemlessEvents =
  'response.created response.queued response.in_progress response.completed response.incomplete response.failed error keepalive ' +
  'response.output_item.added response.output_item.done response.content_part.added response.content_part.done ' +
  'response.audio.delta response.audio.done response.audio.transcript.delta response.audio.transcript.done';
const textPhases = 'delta done';
const mcpStates = 'in_progress completed failed';
const searchStates = 'in_progress searching completed';
/** Event names without `response.`, by item type, each with its possible endings. */
const itemEvents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  message: { output_text: `${textPhases} annotation.added`, refusal: textPhases },
  reasoning: { reasoning_text: textPhases, reasoning_summary_part: 'added done', reasoning_summary_text: textPhases },
  function_call: { function_call_arguments: textPhases },
  custom_tool_call: { custom_tool_call_input: textPhases },
  mcp_call: { mcp_call_arguments: textPhases, mcp_call: mcpStates },
  mcp_list_tools: { mcp_list_tools: mcpStates },
  shell_call: { shell_call_command: `added ${textPhases}` },
  shell_call_output: { shell_call_output_content: textPhases },
  code_interpreter_call: {
    code_interpreter_call_code: textPhases,
    code_interpreter_call: 'in_progress interpreting completed',
  },
  file_search_call: { file_search_call: searchStates },
  web_search_call: { web_search_call: searchStates },
  image_generation_call: { image_generation_call: 'in_progress generating partial_image completed' },
  compaction: { compaction: 'compacting' },
};

/**
 * Undefined for events about no item or items of any type. The helpers of the openai SDK throw on events that are not listed. Source:
 * openai 7.55, `ResponseStreamEvent`.
 */
const itemTypes: ReadonlyMap<string, string | undefined> = new Map([
  ...itemlessEvents.split(' ').map((type) => [type, undefined] as const),
  ...Object.entries(itemEvents).flatMap(([item, events]) =>
    Object.entries(events).flatMap(([name, phases]) =>
      phases.split(' ').map((phase) => [`response.${name}.${phase}`, item] as const),
    ),
  ),
]);

export function isKnownEvent(type: string): boolean {
  return itemTypes.has(type);
}

/** Returns the type of the item that an event belongs to; undefined if it belongs to none or contains the type itself. */
export function itemTypeOf(type: string): string | undefined {
  return itemTypes.get(type);
}

/** Vendors and Open Responses name these events differently. */
const sdkNames: Readonly<Record<string, string>> = {
  'response.reasoning.delta': 'response.reasoning_text.delta',
  'response.reasoning.done': 'response.reasoning_text.done',
  'response.reasoning_part.added': 'response.content_part.added',
  'response.reasoning_part.done': 'response.content_part.done',
  'response.cancelled': 'response.failed',
};
const endEventsByStatus: Readonly<Record<string, string>> = {
  incomplete: 'response.incomplete',
  failed: 'response.failed',
};

export function toSdkEventType(vendorType: string, { response }: ResponsesEvent): string {
  if (vendorType !== 'response.done')
    return Object.hasOwn(sdkNames, vendorType) ? (sdkNames[vendorType] as string) : vendorType;
  const status = scalarToText(readMember<ResponsesReply>(response, 'status'));
  return endEventsByStatus[status] ?? 'response.completed';
}

/** Keeps the upstream's numbers until an event is dropped or added, or lacks a number. */
export class EventNumbers {
  #lastNumber = -1;
  #isRenumbered = false;

  /** The next number, while the upstream's numbers are kept; undefined once the gateway renumbers. */
  get expectedNumber(): number | undefined {
    return this.#isRenumbered ? undefined : this.nextNumber;
  }

  get nextNumber(): number {
    return this.#lastNumber + 1;
  }

  /** @param vendorNumber number in the upstream's stream */
  pass(vendorNumber: JsonValue | undefined): number {
    this.#isRenumbered ||=
      typeof vendorNumber !== 'number' || !Number.isInteger(vendorNumber) || vendorNumber <= this.#lastNumber;
    return (this.#lastNumber = this.#isRenumbered ? this.#lastNumber + 1 : (vendorNumber as number));
  }

  /** Returns the number for an event that the gateway adds. */
  insert(): number {
    this.#isRenumbered = true;
    return ++this.#lastNumber;
  }

  /** Notes that an event was dropped. */
  skip(): void {
    this.#isRenumbered = true;
  }
}
