import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';

/** An upstream's error without the words that another gateway has added. */
interface UnwrappedError {
  readonly message?: string;
  readonly code?: string | undefined;
  /** The body of the gateway's own upstream. */
  readonly body?: JsonObject | undefined;
}

/** LiteLLM's exception, which it repeats, and the name of its provider: `litellm.X: X: OpenAIException - `. */
const litellmPrefix = /^litellm\.(\w+): (?:(?:litellm\.)?\w+Error: )*(?:\w+Exception(?: \w+Error)? - )?/;
const litellmSuffix =
  /(?:\n|\. )(?:LiteLLM: model group |model=\S+ context_window_fallbacks=|Set 'context_window_fallback'|Received Model Group=)/;
/** The place in the server's own code that FastAPI appends to the mistakes in a request. */
const placeSuffix = /\n\n {2}File "/;
/** Meanings that only the name of LiteLLM's exception may say. */
const litellmCodes: ReadonlyMap<string, string> = new Map([
  ['ContextWindowExceededError', 'context_length_exceeded'],
  ['ContentPolicyViolationError', 'content_policy_violation'],
]);

/**
 * Removes what gateways add to errors of their upstreams, and servers to errors of their libraries, because the meaning is in the inner words. Sources: LiteLLM
 * 1.108.7, Portkey 1.15.2 and llama-cpp-python 0.3.36 (observed); OpenRouter docs, "Errors", `ProviderErrorMetadata`.
 *
 * @param body the whole body
 * @returns undefined for an error of no other gateway
 */
export function unwrapError(body: JsonObject, { message, metadata }: JsonObject): UnwrappedError | undefined {
  if (typeof message !== 'string') return undefined;
  if (isJsonObject(metadata) && 'provider_name' in metadata) return readInner(metadata['raw']);
  const portkeyPrefix = `${String(body['provider'])} error: `;
  if (message.startsWith(portkeyPrefix)) return { message: message.slice(portkeyPrefix.length) };
  const place = placeSuffix.exec(message);
  if (place !== null) return { message: message.slice(0, place.index) };
  const [prefix = '', name = ''] = litellmPrefix.exec(message) ?? [];
  if (prefix === '') return undefined;
  const end = litellmSuffix.exec(message)?.index ?? message.length;
  return { code: litellmCodes.get(name), ...readInner(message.slice(prefix.length, end).trim()) };
}

/** Reads the upstream's body, or its words. A page has no words. */
function readInner(inner: JsonValue | undefined): UnwrappedError {
  if (isJsonObject(inner)) return { body: inner };
  if (typeof inner !== 'string' || inner === '' || inner.startsWith('<')) return {};
  const body = parseObject(inner.replace(/^b'(.*)'$/s, '$1'));
  return body === undefined ? { message: inner } : { body };
}
