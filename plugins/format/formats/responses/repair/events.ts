import { member } from '../../../wire/members.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { ResponsesEvent, ResponsesReply } from '../../../wire/responses.ts';

/**
 * The events of a streamed response, each with the type of the item that it belongs to; undefined for those of none or of
 * any. The helpers of the openai SDK throw on every other event. Source: openai 7.55, `ResponseStreamEvent`.
 */
const itemTypes: Readonly<Record<string, string | undefined>> = {
  'response.created': undefined,
  'response.queued': undefined,
  'response.in_progress': undefined,
  'response.completed': undefined,
  'response.incomplete': undefined,
  'response.failed': undefined,
  error: undefined,
  keepalive: undefined,
  'response.output_item.added': undefined,
  'response.output_item.done': undefined,
  'response.content_part.added': undefined,
  'response.content_part.done': undefined,
  'response.audio.delta': undefined,
  'response.audio.done': undefined,
  'response.audio.transcript.delta': undefined,
  'response.audio.transcript.done': undefined,
  'response.output_text.delta': 'message',
  'response.output_text.done': 'message',
  'response.output_text.annotation.added': 'message',
  'response.refusal.delta': 'message',
  'response.refusal.done': 'message',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning_text.done': 'reasoning',
  'response.reasoning_summary_part.added': 'reasoning',
  'response.reasoning_summary_part.done': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_summary_text.done': 'reasoning',
  'response.function_call_arguments.delta': 'function_call',
  'response.function_call_arguments.done': 'function_call',
  'response.custom_tool_call_input.delta': 'custom_tool_call',
  'response.custom_tool_call_input.done': 'custom_tool_call',
  'response.mcp_call_arguments.delta': 'mcp_call',
  'response.mcp_call_arguments.done': 'mcp_call',
  'response.mcp_call.in_progress': 'mcp_call',
  'response.mcp_call.completed': 'mcp_call',
  'response.mcp_call.failed': 'mcp_call',
  'response.mcp_list_tools.in_progress': 'mcp_list_tools',
  'response.mcp_list_tools.completed': 'mcp_list_tools',
  'response.mcp_list_tools.failed': 'mcp_list_tools',
  'response.shell_call_command.added': 'shell_call',
  'response.shell_call_command.delta': 'shell_call',
  'response.shell_call_command.done': 'shell_call',
  'response.shell_call_output_content.delta': 'shell_call_output',
  'response.shell_call_output_content.done': 'shell_call_output',
  'response.code_interpreter_call_code.delta': 'code_interpreter_call',
  'response.code_interpreter_call_code.done': 'code_interpreter_call',
  'response.code_interpreter_call.in_progress': 'code_interpreter_call',
  'response.code_interpreter_call.interpreting': 'code_interpreter_call',
  'response.code_interpreter_call.completed': 'code_interpreter_call',
  'response.file_search_call.in_progress': 'file_search_call',
  'response.file_search_call.searching': 'file_search_call',
  'response.file_search_call.completed': 'file_search_call',
  'response.web_search_call.in_progress': 'web_search_call',
  'response.web_search_call.searching': 'web_search_call',
  'response.web_search_call.completed': 'web_search_call',
  'response.image_generation_call.in_progress': 'image_generation_call',
  'response.image_generation_call.generating': 'image_generation_call',
  'response.image_generation_call.partial_image': 'image_generation_call',
  'response.image_generation_call.completed': 'image_generation_call',
  'response.compaction.compacting': 'compaction',
};

export function isKnownEvent(type: string): boolean {
  return Object.hasOwn(itemTypes, type);
}

/** The type of the item that an event belongs to; undefined if it belongs to none or contains the type. */
export function itemTypeOf(type: string): string | undefined {
  return isKnownEvent(type) ? itemTypes[type] : undefined;
}

/** Names of vendors, and of the Open Responses specification, for events that the SDK knows under another. */
const renamed: Readonly<Record<string, string>> = {
  'response.reasoning.delta': 'response.reasoning_text.delta',
  'response.reasoning.done': 'response.reasoning_text.done',
  'response.reasoning_part.added': 'response.content_part.added',
  'response.reasoning_part.done': 'response.content_part.done',
  'response.cancelled': 'response.failed',
};
const endings: Readonly<Record<string, string>> = { incomplete: 'response.incomplete', failed: 'response.failed' };

/** The type of an event in the words of the SDK. */
export function eventType(given: string, { response }: ResponsesEvent): string {
  if (given !== 'response.done') return Object.hasOwn(renamed, given) ? (renamed[given] as string) : given;
  const status = String(member<ResponsesReply>(response, 'status'));
  return endings[status] ?? 'response.completed';
}

/** Numbers the events of a stream. The upstream's numbers stay until an event is left out, is added, or has none. */
export class EventNumbers {
  #last = -1;
  #isOurs = false;

  /** The number of the next event if it is the upstream's and follows the last; undefined once the numbers are ours. */
  get expected(): number | undefined {
    return this.#isOurs ? undefined : this.next;
  }

  get next(): number {
    return this.#last + 1;
  }

  /** The number of an event of the upstream. @param given its number there */
  pass(given: JsonValue | undefined): number {
    this.#isOurs ||= typeof given !== 'number' || !Number.isInteger(given) || given <= this.#last;
    return (this.#last = this.#isOurs ? this.#last + 1 : (given as number));
  }

  /** The number of an event that the upstream has not sent. */
  insert(): number {
    this.#isOurs = true;
    return ++this.#last;
  }

  skip(): void {
    this.#isOurs = true;
  }
}
