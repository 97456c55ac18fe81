import type { Route } from '#core/config/catalog/catalog.ts';

/**
 * Vendors where the operator names deployments, and servers that answer with the name of a file or a tag: their answers do not tell.
 * Sources: Azure, "Deployment names"; llama.cpp server, `--alias`; vLLM, `--served-model-name`.
 */
const ownNames = new Set<string | undefined>([
  'azure-anthropic',
  'azure-openai',
  'infinity',
  'llama-cpp',
  'ollama',
  'ollama-native',
  'transformers-serve',
  'vllm',
]);

/** Names that a vendor documents for another one, or for whichever it chooses. */
const aliases: readonly (readonly [asked: RegExp, answered: RegExp])[] = [
  // DeepSeek API docs, "Models & Pricing": both are modes of its newest model.
  [/^deepseek-(?:chat|reasoner)$/, /^deepseek-/],
  // Gemini API docs, "Model versions": latest points to the newest of its kind.
  [/^gemini-(?:flash|flash-lite|pro)-latest$/, /^gemini-[\d.]+-/],
  // Moonshot docs, "kimi-latest": chooses by the length of the prompt.
  [/^kimi-latest$/, /^(?:kimi|moonshot)-/],
  // OpenAI, "chatgpt-4o-latest".
  [/^chatgpt-(.+)-latest$/, /^(?:chatgpt|gpt)-/],
  // OpenRouter docs, "Auto Router".
  [/^auto$/, /./],
];

/** What stands behind the name of a model for one version of it. */
const snapshot = /(?:-preview)?-(?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{6}|\d{4}|\d{3})$/;

/** The last name that each route has answered: nearly always the next one too. */
const lastAnswers = new WeakMap<
  Pick<Route, 'model' | 'upstream'>,
  { readonly answered: string; readonly isSame: boolean }
>();

/**
 * True unless a vendor's answer names another model than the one that its route asks for. A dated snapshot of a model is the model, and
 * so are names that the vendor documents for it; a model that was asked for by its date is not another date of it.
 *
 * @param answered the name in the answer
 */
export function isSameModel(route: Pick<Route, 'model' | 'upstream'>, answered: string): boolean {
  const last = lastAnswers.get(route);
  if (last?.answered === answered) return last.isSame;
  const isSame = compareNames(route, answered);
  lastAnswers.set(route, { answered, isSame });
  return isSame;
}

function compareNames({ model, upstream }: Pick<Route, 'model' | 'upstream'>, answered: string): boolean {
  if (ownNames.has(upstream.vendor)) return true;
  const asked = plain(model);
  const given = plain(answered);
  if (asked === given || given === '' || asked === undated(given)) return true;
  // A vendor may leave out the date.
  if (undated(asked) === given) return true;
  const ofLatest = asked.endsWith('-latest') && asked.slice(0, -'-latest'.length) === undated(given);
  return ofLatest || aliases.some(([one, other]) => one.test(asked) && other.test(given));
}

function undated(name: string): string {
  return name.replace(snapshot, '');
}

/** Without what clouds and relays put around a name: folders, regions, makers, versions of their own, tags. */
function plain(name: string): string {
  const last = name.toLowerCase().trim().split('/').at(-1) ?? '';
  return last
    .replace(/^(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|mistral|openai|qwen|writer)\./, '')
    .replace(/(?:-v\d+)?:[\w.-]+$/, '')
    .replace(/@(?:default|latest)$/, '')
    .replace('@', '-');
}
