import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { droppedToolNote } from '../canonical/tools.ts';
import { isClientTextFormat } from '../formats/contract/descriptor.ts';
import { type ClientRequest, createReplyContext } from './client-request.ts';

const clientToolType = /^(function|custom|namespace|tool_search|bash_|text_editor_|memory_)/;

export function hasHostedTools({ tools, web_search_options: search }: JsonObject): boolean {
  return isJsonObject(search) || (Array.isArray(tools) && tools.some((tool) => isJsonObject(tool) && isHosted(tool)));
}

function isHosted(tool: JsonObject): boolean {
  const { type, name, functionDeclarations, function_declarations: declarations } = tool;
  // In Gemini, a member identifies a tool; in the other formats, its type does.
  if (typeof type === 'string') return !clientToolType.test(type);
  return name === undefined && functionDeclarations === undefined && declarations === undefined;
}

export function hasDroppedHostedTool(notes: readonly string[] = []): boolean {
  return notes.some((note) => droppedToolNote.test(note));
}

/**
 * Responds to a web search by Claude Code that no route can run: Claude Code reports the response as a result, but would retry an error.
 *
 * @returns undefined for other clients, for which the refusal is more useful
 */
export function respondToUnavailableTools(
  exchange: Exchange,
  request: ClientRequest,
  refusal: GatewayError,
): Reply | undefined {
  const { format, isStream } = request;
  if (!isClaudeCode(exchange)) return undefined;
  if (refusal.code !== 'not_supported' || refusal.details.param !== 'tools' || !isClientTextFormat(format))
    return undefined;
  const body = format.client.text.replyToUnavailableTool?.(
    request.body,
    createReplyContext(exchange, request),
    isStream,
  );
  if (body === undefined) return undefined;
  const type = isStream ? 'text/event-stream' : 'application/json';
  return { status: 200, headers: { 'content-type': `${type}; charset=utf-8` }, body };
}

/** Returns true for a request from Claude Code, which sends one user agent with its calls and another when it lists models. */
export function isClaudeCode({ headers }: Exchange): boolean {
  return headers['x-app'] === 'cli' || /^claude-(?:cli|code)\b/.test(headers['user-agent'] ?? '');
}

/** Adds the model's name to a refusal of tools, whose message says only "this model". */
export function addModelName(refusal: GatewayError, model: string): GatewayError {
  if (refusal.details.param !== 'tools') return refusal;
  const message = refusal.message.replace('this model', `the model "${model}"`);
  return new GatewayError(refusal.code, message, refusal.details);
}
