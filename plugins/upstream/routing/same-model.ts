import type { Route } from '#core/config/catalog/catalog.ts';

/**
 * Vendors whose operators name deployments, and servers that report the name of a file or a tag. The name that they report proves nothing.
 * Sources: Azure, "Deployment names"; llama.cpp server, `--alias`; vLLM, `--served-model-name`.
 */
const vendorsWithCustomNames = new Set<string | undefined>([
  'azure-anthropic',
  'azure-openai',
  'dynamo',
  'infinity',
  'llama-cpp',
  'llama-cpp-python',
  'lmdeploy',
  'mlx-lm',
  'mlx-vlm',
  'ollama',
  'ollama-native',
  'transformers-serve',
  'vllm',
]);

/**
 * Names of resources that operators define and that may run any model. Sources: Amazon Bedrock, "Inference profiles"; Volcengine Ark,
 * "Inference endpoints"; Vertex AI, "Endpoints", which are numbers.
 */
const customNamePattern =
  /^arn:.*:(?:application-inference-profile|custom-model|imported-model|prompt-router|provisioned-model)|^ep-(?:m-)?\d{8}|(?:^|\/)\d+$/;

/**
 * Documented aliases, for one model or for whichever model the vendor selects. A string replaces the requested name. Dates, `-latest` and
 * other parts that `parseName` drops need no row.
 */
const aliases: readonly (readonly [requested: RegExp, reportedName: string | RegExp])[] = [
  // DeepSeek API docs, "Models & Pricing": both are modes of the newest model.
  [/^deepseek-(?:chat|reasoner)$/, /^deepseek-/],
  // Moonshot docs, "kimi-latest": the length of the prompt selects the model.
  [/^kimi-latest$/, /^(?:kimi|moonshot)-/],
  // OpenAI, "ChatGPT-4o"; "GPT-5 Chat" and its successors: the snapshot used in ChatGPT; "GPT-4 Turbo": the latest preview.
  [/^chatgpt-(.+)-latest$/, 'gpt-$1'],
  [/^gpt-(.+)-chat-latest$/, 'gpt-$1'],
  [/^gpt-4-turbo-preview$/, 'gpt-4-preview'],
  // xAI docs, "Models and pricing", aliases.
  [/^(grok-[\d.-]+-fast)(?:-latest)?$/, '$1-reasoning'],
  [/^grok-code-fast(?:-latest)?$/, 'grok-code-fast-1'],
  [/^(grok-\d[\w.-]*)-beta$/, '$1'],
  // AI21 docs, "Jamba models": the name without a version means the newest version.
  [/^jamba-(?:large|mini)$/, '$&-latest'],
  // OpenRouter docs, "Auto Router".
  [/^auto$/, /./],
];

const monthPattern = '(?:0[1-9]|1[0-2])';
const dayPattern = '(?:[0-2]\\d|3[01])';
/** Dates as vendors write them, and version numbers such as 001. */
const datePatterns = [
  `20\\d\\d-${monthPattern}(?:-${dayPattern})?`,
  `20\\d\\d${monthPattern}${dayPattern}`,
  `2\\d${monthPattern}${dayPattern}`,
  `${monthPattern}-20\\d\\d`,
  `${monthPattern}-${dayPattern}`,
  `${monthPattern}${dayPattern}`,
  `2\\d${monthPattern}`,
  '0\\d\\d',
];
const snapshotPattern = new RegExp(`[-@](${datePatterns.join('|')})(?=$|[-@])`);
/** Matches `-preview-05-20` and `-0905-preview`. Vendors omit one part or both. */
const datedPreviewPattern = new RegExp(`-(?:preview|exp)${snapshotPattern.source}|${snapshotPattern.source}-preview`);

interface ModelName {
  readonly text: string; // without a date, and without the affixes of clouds and relays
  readonly words: readonly string[]; // sorted, because some vendors write `claude-4.5-sonnet`
  readonly date: string | undefined;
  readonly isDatedPreview: boolean;
  readonly isLatest: boolean;
}

/** Last reported name of each route. The next reported name is almost always the same. */
const lastComparisons = new WeakMap<
  Pick<Route, 'model' | 'upstream'>,
  { readonly reportedName: string; readonly isSame: boolean }
>();

/**
 * Returns true unless the reply reports a model other than the one that the route requests. A dated snapshot of the requested model is the
 * same model, and so is any name that the vendor documents for it. If the model is requested by date, a different date is a different
 * model.
 */
export function isSameModel(route: Pick<Route, 'model' | 'upstream'>, reportedName: string): boolean {
  const previous = lastComparisons.get(route);
  if (previous?.reportedName === reportedName) return previous.isSame;
  const isSame = matchesRequest(route, reportedName);
  lastComparisons.set(route, { reportedName, isSame });
  return isSame;
}

function matchesRequest({ model, upstream }: Pick<Route, 'model' | 'upstream'>, reportedName: string): boolean {
  if (model === reportedName || vendorsWithCustomNames.has(upstream.vendor) || customNamePattern.test(model))
    return true;
  const [requested, reported] = [parseName(model), parseName(reportedName)];
  if (reported.text === '' || isVersionOf(requested, reported)) return true;
  return aliases.some(([name, alias]) => {
    if (!name.test(requested.text)) return false;
    return typeof alias === 'string'
      ? isVersionOf(parseName(requested.text.replace(name, alias)), reported)
      : alias.test(reported.text);
  });
}

function isVersionOf(requested: ModelName, reported: ModelName): boolean {
  if (requested.isLatest) return isLatestOf(requested, reported);
  const ignoresPreview = requested.isDatedPreview || reported.isDatedPreview;
  const joinWords = ({ words }: ModelName) =>
    words.filter((word) => !ignoresPreview || !/^(?:preview|exp)$/.test(word)).join();
  if (joinWords(requested) !== joinWords(reported)) return false;
  // A vendor may omit the date, or only the year.
  const [requestedDate, reportedDate] = [requested.date, reported.date];
  return (
    requestedDate === undefined ||
    reportedDate === undefined ||
    requestedDate.endsWith(reportedDate) ||
    reportedDate.endsWith(requestedDate)
  );
}

/** Returns true for any version of the family: `gemini-flash-latest` may be `gemini-3-flash-preview`. */
function isLatestOf(requested: ModelName, reported: ModelName): boolean {
  const extraWords = [...reported.words];
  for (const word of requested.words) {
    const index = extraWords.indexOf(word);
    if (index < 0) return false;
    extraWords.splice(index, 1);
  }
  return extraWords.every((word) => /^(?:v?\d+|preview)$/.test(word));
}

function parseName(name: string): ModelName {
  const bareName = removeAffixes(name.toLowerCase().trim());
  const [, date] = snapshotPattern.exec(bareName) ?? [];
  const text = bareName.replace(snapshotPattern, '');
  const parts = text.replaceAll(/(?<![a-z\d])([a-z]{3,})(?=\d)/g, '$1-').split(/[-_.:@\s]+/);
  const words = parts.filter((word, index) => !isMeaningless(word, parts[index - 1], parts[0]));
  return {
    text,
    words: words.toSorted(),
    date: date?.replaceAll('-', ''),
    isDatedPreview: datedPreviewPattern.test(bareName),
    isLatest: parts.includes('latest'),
  };
}

/** Returns true for words that make no difference: 4-0 equals 4, and `-instruct` is a model of its own only at OpenAI. */
function isMeaningless(word: string, previous: string | undefined, first: string | undefined): boolean {
  if (word === '0') return previous !== undefined && /^\d+$/.test(previous);
  if (word === 'instruct') return first !== 'gpt';
  return word === '' || word === 'latest' || word === 'default';
}

/**
 * Removes folders, deployments, regions, makers, tags other than sizes, and the clouds' versions. Fine-tuned models keep their full name.
 */
function removeAffixes(name: string): string {
  if (name.startsWith('ft:')) return name;
  const lastPart = name.split('#')[0]?.split('/').at(-1) ?? '';
  return lastPart
    .replace(/^(?:[a-z][a-z\d]*\.)+(?=[a-z])/, '')
    .replace(/^(?:(?:anthropic|databricks|meta|openai)-)+(?=[a-z])/, '')
    .replace(/(?:-v\d+)?:(?!\d+(?:\.\d+)?[bm]$)[\w.-]+$/, '');
}
