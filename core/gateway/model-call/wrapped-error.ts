import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';

/** An upstream's error without the text that another gateway has added. */
interface UnwrappedError {
  readonly message?: string;
  readonly code?: string | undefined;
  /** The body of the gateway's own upstream. */
  readonly body?: JsonObject | undefined;
}

/** Names of LiteLLM's exception, which may be repeated, and of its provider: `litellm.X: X: OpenAIException - `. */
const litellmPrefix = /^litellm\.(\w+): (?:(?:litellm\.)?\w+Error: )*(?:\w+Exception(?: \w+Error)? - )?/;
const litellmSuffix =
  /(?:\n|\. )(?:LiteLLM: model group |model=\S+ context_window_fallbacks=|Set 'context_window_fallback'|Received Model Group=)/;
/** Location in the server's source, which FastAPI appends to a list of invalid fields. */
const sourceLocation = /\n\n {2}File "/;
/** Codes for LiteLLM exceptions whose meaning may appear only in the exception's name. */
const litellmCodes: ReadonlyMap<string, string> = new Map([
  ['ContextWindowExceededError', 'context_length_exceeded'],
  ['ContentPolicyViolationError', 'content_policy_violation'],
]);

/**
 * Removes the text that gateways add to errors of their upstreams, and that servers add to errors of their libraries, because the meaning is
 * in the inner text. Sources: LiteLLM 1.108.7, Portkey 1.15.2 and llama-cpp-python 0.3.36 (observed); OpenRouter docs, "Errors",
 * `ProviderErrorMetadata`.
 *
 * @param body the whole body
 * @returns undefined if nothing was added to the error
 */
export function unwrapError(body: JsonObject, { message, metadata }: JsonObject): UnwrappedError | undefined {
  if (typeof message !== 'string') return undefined;
  if (isJsonObject(metadata) && 'provider_name' in metadata) return readInner(metadata['raw']);
  const portkeyPrefix = `${String(body['provider'])} error: `;
  if (message.startsWith(portkeyPrefix)) return { message: message.slice(portkeyPrefix.length) };
  const location = sourceLocation.exec(message);
  if (location !== null) return { message: message.slice(0, location.index) };
  const [prefix = '', name = ''] = litellmPrefix.exec(message) ?? [];
  if (prefix === '') return undefined;
  const end = litellmSuffix.exec(message)?.index ?? message.length;
  return { code: litellmCodes.get(name), ...readInner(message.slice(prefix.length, end).trim()) };
}

/** Reads the upstream's body or message. An HTML page has neither. */
function readInner(inner: JsonValue | undefined): UnwrappedError {
  if (isJsonObject(inner)) return { body: inner };
  if (typeof inner !== 'string' || inner === '' || inner.startsWith('<')) return {};
  const body = parseObject(inner.replace(/^b'(.*)'$/s, '$1'));
  return body === undefined ? { message: inner } : { body };
}
