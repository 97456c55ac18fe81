import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import type { CompleteReply } from '../../../canonical/reply.ts';
import { asList, readMember, scalarToText } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesRequest, MessagesTool } from '../../../wire/messages.ts';
import { MessagesEncoder, writeEvent } from './encode-reply.ts';

const emptyReply: CompleteReply = {
  blocks: [],
  finish: 'stop',
  stopSequence: undefined,
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
};

const hostedTypePattern = /^(web_search|web_fetch|code_execution)_\d/; // results of these tools can report an error

/**
 * Writes the response to a request whose only tools are hosted by a vendor that no route leads to; undefined for other tools. The response
 * contains a tool result stating that the tool is unavailable. Claude Code sends searches as separate requests; it would retry after an
 * error and would mistake plain text for results. Source: Anthropic docs, "Web search tool", "Errors".
 *
 * @returns a body, or the events of a stream
 */
export function replyToUnavailableTool(body: JsonObject, context: ReplyContext, isStream: boolean): string | undefined {
  const { tools }: MessagesRequest = body;
  const names = asList(tools).map(
    (tool) => hostedTypePattern.exec(scalarToText(readMember<MessagesTool>(tool, 'type')))?.[1],
  );
  const [name] = names;
  if (name === undefined || names.includes(undefined)) return undefined;
  const blocks = writeBlocks(name, context);
  const encoder = new MessagesEncoder(context);
  if (!isStream) return JSON.stringify({ ...encoder.encodeWhole(emptyReply), content: blocks });
  return [
    encoder.encodeEvent({ type: 'start', usage: emptyReply.usage }),
    ...blocks.map(writeBlock),
    encoder.encodeEvent({ type: 'finish', reply: emptyReply }),
  ].join('');
}

function writeBlocks(name: string, { id, model }: ReplyContext): MessagesBlock[] {
  const tool_use_id = `srvtoolu_${id}`;
  const error = { type: `${name}_tool_result_error`, error_code: 'unavailable' };
  return [
    { type: 'server_tool_use', id: tool_use_id, name, input: {} },
    { type: `${name}_tool_result`, tool_use_id, content: error },
    { type: 'text', text: `The tool ${name} is not available with the model ${model}.` },
  ];
}

function writeBlock(block: MessagesBlock, index: number): string {
  const isText = block.type === 'text';
  // A result is complete in the start event; text follows in a delta.
  const content_block = isText ? { ...block, text: '' } : block;
  const delta = { type: 'text_delta', text: block.text };
  return (
    writeEvent('content_block_start', { index, content_block }) +
    (isText ? writeEvent('content_block_delta', { index, delta }) : '') +
    writeEvent('content_block_stop', { index })
  );
}
