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

/**
 * Names that a vendor gives to what an operator has set up, of any model. Sources: Amazon Bedrock, "Inference profiles"; Volcengine Ark,
 * "Inference endpoints"; Vertex AI, "Endpoints", which are numbers.
 */
const ownName =
  /^arn:.*:(?:application-inference-profile|custom-model|imported-model|prompt-router|provisioned-model)|^ep-(?:m-)?\d{8}|(?:^|\/)\d+$/;

/**
 * Names that a vendor documents for another one, or for whichever it chooses. A text takes the place of the name that was asked for.
 * Dates, `-latest` and the rest of what `readName` leaves out need no row.
 */
const aliases: readonly (readonly [asked: RegExp, answered: string | RegExp])[] = [
  // DeepSeek API docs, "Models & Pricing": both are modes of its newest model.
  [/^deepseek-(?:chat|reasoner)$/, /^deepseek-/],
  // Moonshot docs, "kimi-latest": chooses by the length of the prompt.
  [/^kimi-latest$/, /^(?:kimi|moonshot)-/],
  // OpenAI, "ChatGPT-4o"; "GPT-5 Chat" and its followers: the snapshot in ChatGPT; "GPT-4 Turbo": the latest preview.
  [/^chatgpt-(.+)-latest$/, 'gpt-$1'],
  [/^gpt-(.+)-chat-latest$/, 'gpt-$1'],
  [/^gpt-4-turbo-preview$/, 'gpt-4-preview'],
  // xAI docs, "Models and pricing", aliases.
  [/^(grok-[\d.-]+-fast)(?:-latest)?$/, '$1-reasoning'],
  [/^grok-code-fast(?:-latest)?$/, 'grok-code-fast-1'],
  [/^(grok-\d[\w.-]*)-beta$/, '$1'],
  // AI21 docs, "Jamba models": the name without a version is its newest.
  [/^jamba-(?:large|mini)$/, '$&-latest'],
  // OpenRouter docs, "Auto Router".
  [/^auto$/, /./],
];

const month = '(?:0[1-9]|1[0-2])';
const dayOfMonth = '(?:[0-2]\\d|3[01])';
/** Dates as vendors write them, and numbers of versions such as 001. */
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
/** `-preview-05-20`, `-0905-preview`: vendors leave out both words or one. */
const datedPreview = new RegExp(`-(?:preview|exp)${snapshot.source}|${snapshot.source}-preview`);

/** What a name says of its model. */
interface ModelName {
  /** Without what clouds and relays put around it, and without a date. */
  readonly text: string;
  /** Its parts, sorted: some vendors write `claude-4.5-sonnet`. */
  readonly words: readonly string[];
  /** Digits of its date. */
  readonly date: string | undefined;
  readonly isDatedPreview: boolean;
  readonly isLatest: boolean;
}

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
  if (model === answered || ownNames.has(upstream.vendor) || ownName.test(model)) return true;
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
  // A vendor may leave out the date, or the year.
  const [one, other] = [asked.date, given.date];
  return one === undefined || other === undefined || one.endsWith(other) || other.endsWith(one);
}

/** The latest of a family may be any version of it: `gemini-3-flash-preview` for `gemini-flash-latest`. */
function isLatestOf(asked: ModelName, given: ModelName): boolean {
  const rest = [...given.words];
  for (const word of asked.words) {
    const at = rest.indexOf(word);
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return rest.every((word) => /^(?:v?\d+|preview)$/.test(word));
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

/** A version 4-0 is version 4; open models are served as `-instruct`, while OpenAI has a model of that name. */
function isWithoutMeaning(word: string, before: string | undefined, first: string | undefined): boolean {
  if (word === '0') return before !== undefined && /^\d+$/.test(before);
  if (word === 'instruct') return first !== 'gpt';
  return word === '' || word === 'latest' || word === 'default';
}

/** Without folders, deployments, regions, makers, tags other than sizes, and versions of clouds; fine-tuned models are named by all of it. */
function withoutPlace(name: string): string {
  if (name.startsWith('ft:')) return name;
  const last = name.split('#')[0]?.split('/').at(-1) ?? '';
  return last
    .replace(/^(?:[a-z][a-z\d]*\.)+(?=[a-z])/, '')
    .replace(/^(?:(?:anthropic|databricks|meta|openai)-)+(?=[a-z])/, '')
    .replace(/(?:-v\d+)?:(?!\d+(?:\.\d+)?[bm]$)[\w.-]+$/, '');
}
