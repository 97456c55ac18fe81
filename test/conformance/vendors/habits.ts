import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../support/formats.ts';
import { compact, objectOf, objectsOf } from '../conversation.ts';
import type { Habits, VendorTurn } from './scenarios.ts';

/**
 * A request with all that the tools of its format send beside the question. Sources: recorded requests of Claude Code,
 * Codex, Copilot CLI, pi, OpenCode and Gemini CLI.
 */
export function withHabits(client: TextFormat, body: JsonObject, habits: Habits = {}): JsonObject {
  const habitual = compact(written[client](body, habits));
  if (habits.hasSearch !== true) return habitual;
  return { ...habitual, tools: [...objectsOf(habitual['tools']), searches[client]] };
}

/** The web search of the vendor of each format, as a tool; Chat has none. */
const searches: Readonly<Record<TextFormat, JsonObject>> = {
  chat: {},
  responses: { type: 'web_search' },
  messages: { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
  gemini: { googleSearch: {} },
};

/** The body as text. A parser that takes the first of two members would serve another model. */
export function bytesOf(body: JsonObject, { repeatsModel }: Habits = {}): string {
  const text = JSON.stringify(body);
  return repeatsModel === true ? `{"model":"${anotherModel}","mod\\u0065l":"${anotherModel}",${text.slice(1)}` : text;
}

export const anotherModel = 'never-authorised';

/** Headers that the tools send. */
export const headersOf: Readonly<Record<TextFormat, Readonly<Record<string, string>>>> = {
  chat: { 'user-agent': 'OpenAI/JS 6.49.0', 'x-stainless-lang': 'js', 'x-stainless-retry-count': '0' },
  responses: { originator: 'codex_cli_rs', 'x-codex-window-id': 'w1', 'session-id': 's1' },
  messages: {
    'user-agent': 'claude-cli/2.1.332 (external, cli)',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
    'x-app': 'cli',
    'x-claude-code-session-id': 's1',
    'x-stainless-timeout': '600',
  },
  gemini: { 'x-goog-api-client': 'google-genai-sdk/2.32.0' },
};

const written: Readonly<Record<TextFormat, (body: JsonObject, habits: Habits) => JsonObject>> = {
  chat: (body, { lateSystem, isForced }) => ({
    ...body,
    ...(isForced === true && { tool_choice: 'required' }),
    messages: insertAfterUser(
      objectsOf(body['messages']).map((message) =>
        message['role'] === 'user' ? { ...message, name: 'ann' } : message,
      ),
      lateSystem === undefined ? undefined : { role: 'system', content: lateSystem },
    ),
    store: false,
    frequency_penalty: 0,
    presence_penalty: 0,
  }),
  responses: (body, { lateSystem, isForced }) => ({
    tool_choice: isForced === true ? 'required' : 'auto',
    parallel_tool_calls: true,
    prompt_cache_key: 'c1',
    client_metadata: { session: 's1' },
    ...body,
    input: insertAfterUser(
      objectsOf(body['input']),
      lateSystem === undefined
        ? undefined
        : { type: 'message', role: 'developer', content: [{ type: 'input_text', text: lateSystem }] },
    ),
  }),
  messages: (body, { lateSystem, adaptive, isForced }) => ({
    ...body,
    ...(isForced === true && { tool_choice: { type: 'any' } }),
    messages: insertAfterUser(
      objectsOf(body['messages']),
      lateSystem === undefined
        ? undefined
        : { role: 'system', content: [{ type: 'text', text: lateSystem, cache_control: { type: 'ephemeral' } }] },
    ),
    metadata: { user_id: '{"device_id":"d1"}' },
    ...(adaptive === true && {
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { ...objectOf(body['output_config']), effort: 'high' },
    }),
  }),
  gemini: (body, { isForced }) => ({
    ...body,
    ...(isForced === true && { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
  }),
};

function insertAfterUser(messages: readonly JsonObject[], message: JsonObject | undefined): JsonObject[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return message === undefined ? [...messages] : messages.toSpliced(first + 1, 0, message);
}

/** True for a turn that the format cannot express. */
export function cannotSay(client: TextFormat, { ask, habits = {} }: VendorTurn): boolean {
  if (client === 'chat' && habits.hasSearch === true) return true;
  if (client === 'gemini') return habits.lateSystem !== undefined || ask.isSerial === true;
  return client !== 'messages' && habits.adaptive === true;
}
