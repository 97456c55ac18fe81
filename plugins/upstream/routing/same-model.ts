import type { Route } from '#core/config/catalog/catalog.ts';

/**
 * Vendors where the operator names deployments, and servers that answer with the name of a file or a tag: the name in the answer proves
 * nothing. Sources: Azure, "Deployment names"; llama.cpp server, `--alias`; vLLM, `--served-model-name`.
 */
const vendorsWithCustomNames = new Set<string | undefined>([
  'azure-anthropic',
  'azure-openai',
  'infinity',
  'llama-cpp',
  'ollama',
  'ollama-native',
  'transformers-serve',
  'vllm',
]);

/**
 * Names of operator-defined resources, which may run any model. Sources: Amazon Bedrock, "Inference profiles"; Volcengine Ark, "Inference
 * endpoints"; Vertex AI, "Endpoints", which are numbers.
 */
const customName =
  /^arn:.*:(?:application-inference-profile|custom-model|imported-model|prompt-router|provisioned-model)|^ep-(?:m-)?\d{8}|(?:^|\/)\d+$/;

/**
 * Documented aliases of a model, or of whichever model the vendor chooses. A string replaces the requested name. Dates, `-latest` and the
 * other parts that `readName` drops need no row.
 */
const aliases: readonly (readonly [asked: RegExp, answered: string | RegExp])[] = [
  // DeepSeek API docs, "Models & Pricing": both are modes of the newest model.
  [/^deepseek-(?:chat|reasoner)$/, /^deepseek-/],
  // Moonshot docs, "kimi-latest": selected by the length of the prompt.
  [/^kimi-latest$/, /^(?:kimi|moonshot)-/],
  // OpenAI, "ChatGPT-4o"; "GPT-5 Chat" and its successors: the snapshot in ChatGPT; "GPT-4 Turbo": the latest preview.
  [/^chatgpt-(.+)-latest$/, 'gpt-$1'],
  [/^gpt-(.+)-chat-latest$/, 'gpt-$1'],
  [/^gpt-4-turbo-preview$/, 'gpt-4-preview'],
  // xAI docs, "Models and pricing", aliases.
  [/^(grok-[\d.-]+-fast)(?:-latest)?$/, '$1-reasoning'],
  [/^grok-code-fast(?:-latest)?$/, 'grok-code-fast-1'],
  [/^(grok-\d[\w.-]*)-beta$/, '$1'],
  // AI21 docs, "Jamba models": the name without a version is the newest one.
  [/^jamba-(?:large|mini)$/, '$&-latest'],
  // OpenRouter docs, "Auto Router".
  [/^auto$/, /./],
];

const month = '(?:0[1-9]|1[0-2])';
const dayOfMonth = '(?:[0-2]\\d|3[01])';
/** Dates as written by vendors, and version numbers such as 001. */
const dates = [
  `20\\d\\d-${month}(?:-${dayOfMonth})?`,
  `20\\d\\d${month}${dayOfMonth}`,
  `2\\d${month}${dayOfMonth}`,
  `${month}-20\\d\\d`,
  `${month}-${dayOfMonth}`,
  `${month}${dayOfMonth}`,
  `2\\d${month}`,
  '0\\d\\d',
];
const snapshot = new RegExp(`[-@](${dates.join('|')})(?=$|[-@])`);
/** `-preview-05-20`, `-0905-preview`: vendors omit one or both parts. */
const datedPreview = new RegExp(`-(?:preview|exp)${snapshot.source}|${snapshot.source}-preview`);

/** Parsed model name. */
interface ModelName {
  /** The name without additions of clouds and relays, and without a date. */
  readonly text: string;
  /** Parts of the name, sorted: some vendors write `claude-4.5-sonnet`. */
  readonly words: readonly string[];
  /** Digits of the date. */
  readonly date: string | undefined;
  readonly isDatedPreview: boolean;
  readonly isLatest: boolean;
}

/** The last name that each route answered with; almost always the next one too. */
const lastAnswers = new WeakMap<
  Pick<Route, 'model' | 'upstream'>,
  { readonly answered: string; readonly isSame: boolean }
>();

/**
 * Returns true unless the answer names another model than the route requests. A dated snapshot of the requested model is the same model,
 * and so are names that the vendor documents for it. A model requested by date is not the same as another date of it.
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
  if (model === answered || vendorsWithCustomNames.has(upstream.vendor) || customName.test(model)) return true;
  const [asked, given] = [readName(model), readName(answered)];
  if (given.text === '' || isVersionOf(asked, given)) return true;
  return aliases.some(([name, other]) => {
    if (!name.test(asked.text)) return false;
    return typeof other === 'string'
      ? isVersionOf(readName(asked.text.replace(name, other)), given)
      : other.test(given.text);
  });
}

function isVersionOf(asked: ModelName, given: ModelName): boolean {
  if (asked.isLatest) return isLatestOf(asked, given);
  const isLoose = asked.isDatedPreview || given.isDatedPreview;
  const wordsOf = ({ words }: ModelName) => words.filter((word) => !isLoose || !/^(?:preview|exp)$/.test(word)).join();
  if (wordsOf(asked) !== wordsOf(given)) return false;
  // A vendor may omit the date, or the year.
  const [askedDate, givenDate] = [asked.date, given.date];
  return (
    askedDate === undefined || givenDate === undefined || askedDate.endsWith(givenDate) || givenDate.endsWith(askedDate)
  );
}

/** The latest model of a family may be any of its versions: `gemini-3-flash-preview` for `gemini-flash-latest`. */
function isLatestOf(asked: ModelName, given: ModelName): boolean {
  const extraWords = [...given.words];
  for (const word of asked.words) {
    const at = extraWords.indexOf(word);
    if (at < 0) return false;
    extraWords.splice(at, 1);
  }
  return extraWords.every((word) => /^(?:v?\d+|preview)$/.test(word));
}

function readName(name: string): ModelName {
  const plain = withoutPlace(name.toLowerCase().trim());
  const [, date] = snapshot.exec(plain) ?? [];
  const text = plain.replace(snapshot, '');
  const parts = text.replaceAll(/(?<![a-z\d])([a-z]{3,})(?=\d)/g, '$1-').split(/[-_.:@\s]+/);
  const words = parts.filter((word, index) => !isWithoutMeaning(word, parts[index - 1], parts[0]));
  return {
    text,
    words: words.toSorted(),
    date: date?.replaceAll('-', ''),
    isDatedPreview: datedPreview.test(plain),
    isLatest: parts.includes('latest'),
  };
}

/** Version 4-0 equals version 4. Open models are served as `-instruct`, while OpenAI has a separate model with that suffix. */
function isWithoutMeaning(word: string, before: string | undefined, first: string | undefined): boolean {
  if (word === '0') return before !== undefined && /^\d+$/.test(before);
  if (word === 'instruct') return first !== 'gpt';
  return word === '' || word === 'latest' || word === 'default';
}

/** Drops folders, deployments, regions, makers, tags other than sizes, and cloud versions. Fine-tuned models keep the whole name. */
function withoutPlace(name: string): string {
  if (name.startsWith('ft:')) return name;
  const last = name.split('#')[0]?.split('/').at(-1) ?? '';
  return last
    .replace(/^(?:[a-z][a-z\d]*\.)+(?=[a-z])/, '')
    .replace(/^(?:(?:anthropic|databricks|meta|openai)-)+(?=[a-z])/, '')
    .replace(/(?:-v\d+)?:(?!\d+(?:\.\d+)?[bm]$)[\w.-]+$/, '');
}
