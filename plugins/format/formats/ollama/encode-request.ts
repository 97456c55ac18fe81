import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type {
  ClientTool,
  Conversation,
  Effort,
  ImagePart,
  Item,
  Part,
  ToolCall,
} from '../../canonical/conversation.ts';
import { joinAllInstructions, writeResultText, joinTexts } from '../../canonical/dialogue.ts';
import { checkImageType, decodeTextFile, createUnsupportedContentError } from '../../canonical/media.ts';
import { noteLostDescription, writeFormat } from '../../canonical/output-format.ts';
import { clampEffort, readRequestedEffort } from '../../canonical/reasoning.ts';
import { isClientTool } from '../../canonical/tool-names.ts';
import { describeAsFunction, wantsEnforcedInput, toObjectInput } from '../../canonical/tools.ts';
import { writeAsMessages, type SplitTurn } from '../../canonical/write-turns.ts';
import { withoutUndefined } from '../../wire/members.ts';
import type { OllamaMessage, OllamaRequest, OllamaTool, OllamaCall } from '../../wire/ollama.ts';
import { compileParameters } from '../contract/parameters.ts';
import { writeSettings } from '../contract/settings.ts';

/** Has no rules, because no client uses the format. Source: Ollama API reference, "Parameters" of a Modelfile. */
export const ollamaParameters = compileParameters({
  'options.temperature': { to: 'temperature' },
  'options.top_p': { to: 'topP' },
  'options.top_k': { to: 'topK' },
  'options.presence_penalty': { to: 'presencePenalty' },
  'options.frequency_penalty': { to: 'frequencyPenalty' },
  'options.seed': { to: 'seed' },
  'options.num_predict': { to: 'maxOutputTokens' },
  'options.stop': { to: 'stop' },
});

const ollamaLevels: ReadonlySet<Effort> = new Set(['low', 'medium', 'high']);

/**
 * Encodes a chat request. Source: Ollama API reference, "Generate a chat message".
 *
 * @throws GatewayError `not_supported`, `unsupported_content`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  noteLostDescription(conversation.output, target.notes);
  const request: OllamaRequest = {
    model: target.model,
    messages: [...writeInstructions(conversation, instruction), ...writeMessages(conversation.items, target)],
    tools: writeTools(conversation, target),
    format: format?.['type'] === 'json_schema' ? format['schema'] : format && 'json',
    ...writeSettings(conversation, ollamaParameters, target),
    think: writeReasoning(conversation, target),
    stream: target.isStream,
  };
  return withoutUndefined(request);
}

function writeInstructions(conversation: Conversation, instruction: string | undefined): OllamaMessage[] {
  const content = joinAllInstructions(conversation, instruction);
  return content === '' ? [] : [{ role: 'system', content }];
}

/** Returns undefined if the client does not ask for reasoning; the model's default then applies. */
function writeReasoning({ reasoning }: Conversation, { profile, notes }: EncodeTarget): boolean | string | undefined {
  const wantedEffort = readRequestedEffort(reasoning);
  if (wantedEffort === undefined) return undefined;
  const { capabilities, quirks } = profile;
  if (!capabilities.reasoning || quirks.reasoning === 'none') {
    if (wantedEffort !== 'none') notes.drop('reasoning');
    return undefined;
  }
  if (wantedEffort === 'none' || quirks.reasoning === 'enable_thinking') return wantedEffort !== 'none';
  const routeLevels = quirks.efforts.filter((effort) => ollamaLevels.has(effort));
  const level = clampEffort(wantedEffort, routeLevels);
  if (level !== wantedEffort) notes.approximate(`reasoning effort as ${level}`);
  return level;
}

/** Omits tools that may not be called, because the format can neither force nor forbid calls. */
function writeTools(conversation: Conversation, target: EncodeTarget): JsonValue | undefined {
  const { tools, toolChoice, parallelToolCalls } = conversation;
  const { notes, profile } = target;
  if (!profile.capabilities.tools) {
    if (tools.length > 0) notes.drop('tools');
    return undefined;
  }
  if (!tools.every(isClientTool)) notes.drop('web_search');
  const { type, name, allowed = name === undefined ? undefined : [name] } = toolChoice ?? {};
  if (parallelToolCalls === false && tools.length > 0) notes.drop('parallel_tool_calls');
  if (type === 'required' || type === 'tool') notes.approximate('forced tool_choice as auto');
  const callableTools = tools.filter(isClientTool).filter((tool) => allowed?.includes(tool.name) !== false);
  if (type === 'none' || callableTools.length === 0) return undefined;
  return callableTools.map((tool) => writeTool(tool, target));
}

function writeTool(tool: ClientTool, { names, notes }: EncodeTarget): OllamaTool {
  const { description = '', schema } = describeAsFunction(tool, notes);
  if (wantsEnforcedInput(tool)) notes.drop('strict of tools');
  return {
    type: 'function',
    function: {
      name: names.toWire(tool.name, tool.namespace),
      description,
      parameters: schema ?? { type: 'object', properties: {} },
    },
  };
}

/** Sources: Ollama API reference, "Generate a chat message"; docs, "Tool calling", "Thinking", "Vision". */
function writeMessages(items: readonly Item[], target: EncodeTarget): OllamaMessage[] {
  const namesByCallId = new Map<string, string>();
  return writeAsMessages<OllamaMessage>(items, target, {
    system: (content) => ({ role: 'system', content }),
    result: (result) => ({
      role: 'tool',
      tool_name: namesByCallId.get(result.id) ?? 'unknown',
      tool_call_id: result.id,
      content: writeResultText(result),
    }),
    user: (parts) => ({ role: 'user', ...writeContent(parts, target) }),
    assistant: (answer) => writeAssistant(answer, namesByCallId, target),
  });
}

function writeContent(parts: readonly Part[], target: EncodeTarget): OllamaMessage {
  const images = parts.filter((part) => part.type === 'image').map((image) => writeImage(image, target));
  const texts = parts.filter(({ type }) => type !== 'image').map((part) => writeText(part, target));
  const content = texts.filter((text) => text !== '').join('\n\n');
  return images.length === 0 ? { content } : { content, images };
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): string {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw createUnsupportedContentError('images', image);
  if (source.type !== 'base64') throw createUnsupportedContentError('image URLs', image);
  checkImageType(source, 'any', image);
  if (detail !== undefined && detail !== 'auto') notes.drop('image detail');
  return source.data;
}

function writeText(part: Part, { notes }: EncodeTarget): string {
  if (part.type === 'audio') throw createUnsupportedContentError('audio', part);
  if (part.type === 'video') throw createUnsupportedContentError('videos', part);
  if (part.type !== 'file') return joinTexts([part]);
  const text = decodeTextFile(part.source);
  if (text === undefined) throw createUnsupportedContentError('files', part);
  notes.approximate('text files as text');
  return `${part.name ?? 'document'}:\n${text}`;
}

/** Includes all reasoning, because the model's template decides which part it uses. */
function writeAssistant(answer: SplitTurn, namesByCallId: Map<string, string>, target: EncodeTarget): OllamaMessage {
  const { text, calls, reasoningTexts: thoughts, hasReasoning } = answer;
  if (thoughts.length === 0 && hasReasoning) target.notes.drop('reasoning of earlier turns');
  return {
    role: 'assistant',
    content: text,
    ...(thoughts.length > 0 && { thinking: thoughts.join('\n\n') }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, namesByCallId, target)) }),
  };
}

function writeCall(call: ToolCall, namesByCallId: Map<string, string>, target: EncodeTarget): OllamaCall {
  const name = target.names.toWire(call.name, call.namespace);
  namesByCallId.set(call.id, name);
  return { id: call.id, function: { name, arguments: toObjectInput(call, target.notes) } };
}
