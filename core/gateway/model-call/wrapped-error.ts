import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';

interface UnwrappedError {
  readonly message?: string;
  readonly code?: string | undefined;
  readonly upstreamStatus?: number;
  readonly upstreamBody?: JsonObject | undefined;
}

/** Names of LiteLLM's exception, which may be repeated, and of its provider: `litellm.X: X: OpenAIException - `. */
const litellmPrefix = /^litellm\.(\w+): (?:(?:litellm\.)?\w+Error: )*(?:\w+Exception(?: \w+Error)? - )?/;
const litellmSuffix =
  /(?:\n|\. )(?:LiteLLM: model group |model=\S+ context_window_fallbacks=|Set 'context_window_fallback'|Received Model Group=)/;
/**
 * Prefixes that contain the status of a gateway's upstream, as written by vLLM's agentic-api, claude-code-router, and OpenAI's SDK for
 * Python. Gateways repeat the SDK's exceptions, some with their own prefix: lm-proxy, hayhooks and Agent Framework. Only these words may
 * precede an exception. After other words, it could be client text that the vendor repeats, with a code that closes the key.
 */
const statusPrefix =
  /^(?:LLM request failed \((\d{3})[^()]{0,40}\): |Error from provider\([^()]{1,200}: (\d{3})\): |(?:Error processing upstream provider response \[\w{1,60}\]: |Pipeline execution failed: (?:(?!\nError: )[^]){0,300}\nError: |\(["']<class [^>]{1,200}> service failed to complete the prompt: )?Error code: (\d{3}) - )/;
/** Start of Hermes Agent's errors. Other servers' errors also start like this if they could not load the client's image. */
const hermesPrefix = /^HTTP (\d{3}): /;
/** claude-code-router repeats the message, and Agent Framework prints the SDK's exception after it. */
const statusSuffix = /Error: Error from provider\(|["'], \w+Error\(["']/;
/** Location in source code, which FastAPI appends to a list of invalid fields, and JavaScript servers to errors. */
const sourceLocation = /\n\n {2}File "|\n {4}at \S/;
const litellmCodes: ReadonlyMap<string, string> = new Map([
  // The meaning may appear only in the exception's name.
  ['ContextWindowExceededError', 'context_length_exceeded'],
  ['ContentPolicyViolationError', 'content_policy_violation'],
]);

/**
 * Removes the text that gateways add to errors of their upstreams, and that servers add to errors of their libraries, because the meaning
 * is in the inner text. Sources: LiteLLM 1.108.7, Portkey 1.15.2, agentic-api 0.9.0, claude-code-router's library 1.0.53, lm-proxy 3.3.2,
 * hayhooks 2.1.0, Agent Framework's DevUI 1.0.0b261022, Hermes Agent 0.19.0 and llama-cpp-python 0.3.36 (observed); OpenRouter docs,
 * "Errors", `ProviderErrorMetadata`.
 *
 * @returns undefined if nothing was added to the error
 */
export function unwrapError(
  body: JsonObject,
  metadata: JsonValue | undefined,
  message: string,
): UnwrappedError | undefined {
  if (isJsonObject(metadata) && 'provider_name' in metadata) return readInner(metadata['raw']);
  const portkeyPrefix = `${String(body['provider'])} error: `;
  if (message.startsWith(portkeyPrefix)) return { message: message.slice(portkeyPrefix.length) };
  return unwrapMessage(message, isJsonObject(body['hermes']) ? hermesPrefix : statusPrefix);
}

function unwrapMessage(message: string, pattern: RegExp): UnwrappedError | undefined {
  const [prefix = '', ...statuses] = pattern.exec(message) ?? [];
  if (prefix !== '') {
    const rest = message.slice(prefix.length);
    const code = statuses.find((status) => status !== undefined);
    const inner = removeSourceLocation(rest.slice(0, statusSuffix.exec(rest)?.index));
    return { code, upstreamStatus: Number(code), ...readInner(inner) };
  }
  if (message.startsWith('{')) return readPrinted(message);
  const text = removeSourceLocation(message);
  return text === message ? unwrapLitellm(message) : { message: text };
}

function unwrapLitellm(message: string): UnwrappedError | undefined {
  const [prefix, exceptionName = ''] = litellmPrefix.exec(message) ?? [];
  if (prefix === undefined) return undefined;
  const end = litellmSuffix.exec(message)?.index ?? message.length;
  return { code: litellmCodes.get(exceptionName), ...readInner(message.slice(prefix.length, end).trim()) };
}

function removeSourceLocation(message: string): string {
  return message.slice(0, sourceLocation.exec(message)?.index);
}

/** Reads an error that was printed as JSON, or as a Python dictionary: `{'message': 'Error code: 400 - {…}', 'type': 'BadRequestError'}`. */
function readPrinted(text: string): UnwrappedError | undefined {
  const body = parseObject(text) ?? parsePythonObject(text);
  return body !== undefined && ('message' in body || 'error' in body) ? { upstreamBody: body } : undefined;
}

function readInner(inner: JsonValue | undefined): UnwrappedError {
  if (isJsonObject(inner)) return { upstreamBody: inner };
  // An HTML page contains neither a body nor a message.
  if (typeof inner !== 'string' || inner === '' || inner.startsWith('<')) return {};
  const body = parseObject(inner.replace(/^b'(.*)'$/s, '$1')) ?? parsePythonObject(inner);
  return body === undefined ? { message: inner } : { upstreamBody: body };
}

const pythonToken = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(None|True|False)\b/gs;
const pythonConstants: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };

function parsePythonObject(text: string): JsonObject | undefined {
  if (!text.startsWith("{'")) return undefined;
  const json = text.replace(pythonToken, (_token, single?: string, double?: string, constant?: string) =>
    constant === undefined ? JSON.stringify(readPythonText(single ?? double ?? '')) : (pythonConstants[constant] ?? ''),
  );
  return parseObject(json);
}

const pythonEscape = /\\(?:x([\da-f]{2})|u([\da-f]{4})|(.))/gs;
const pythonLetters: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function readPythonText(text: string): string {
  return text.replace(pythonEscape, (_escape, byte?: string, unit?: string, letter?: string) => {
    const code = byte ?? unit;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return pythonLetters.get(letter ?? '') ?? letter ?? '';
  });
}
