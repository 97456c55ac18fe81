export type Samples = Readonly<Record<string, readonly string[]>>; // answers by prompt

export const samplesPerPrompt = 3;

const makerPrompt = 'Who made you, and what is the name of your model? Answer in at most ten words.';

/** Short answers to these prompts differ between models. Never edit a prompt in place, because stored baselines contain answers to it. */
export const prompts: readonly string[] = [
  makerPrompt,
  'Until which month and year does your knowledge go? Answer with month and year only.',
  'Complete with one word: The old keeper opened the door of the lighthouse and saw a',
  'Name one animal. Answer with one word.',
  'Pick a number between 1 and 100. Answer with the number only.',
  'Translate into Indonesian: The early bird catches the worm. Answer with the translation only.',
  'What is 487 times 236? Answer with the number only.',
  'How many times does the letter r occur in strawberry, raspberry and cranberry together? Answer with the number only.',
  'Write a title for a short story about rain. Answer with the title only.',
  'What is the 30th prime number? Answer with the number only.',
  'Which element has the atomic number 76? Answer with one word.',
  'Greet me as you usually do, in one sentence.',
];

export interface Comparison {
  /** Similarity to the baseline, 0 to 100; 100 if the answers differ no more than the baseline's answers differ from each other. */
  readonly score: number;
  /** Probability that answers of the same model differ this much. */
  readonly p: number;
  /** The maker that most answers name, before and now; undefined if it is the same. */
  readonly makers: readonly [before: string, now: string] | undefined;
  readonly example: string;
}

/** The route serves a different model if the probability is below this twice in a row, with new answers. */
export const significance = 0.001;
const permutationCount = 4_999;

/**
 * Tests whether answers come from the same distribution as the baseline's (a two-sample test on texts). The statistic is the squared
 * maximum mean discrepancy with word overlap as the kernel. Its distribution for an unchanged model is estimated by randomly permuting the
 * answers to each prompt. Source: Gao, Liang and Guestrin, "Model Equality Testing: Which Model Is This API Serving?" (2024).
 */
export function compareSamples(baseline: Samples, current: Samples): Comparison {
  const random = createSeededRandom(1);
  const sharedPrompts = Object.keys(baseline).filter(
    (prompt) => (baseline[prompt]?.length ?? 0) > 1 && (current[prompt]?.length ?? 0) > 1,
  );
  const groups = sharedPrompts.map(
    (prompt) => new PromptAnswers(prompt, baseline[prompt] ?? [], current[prompt] ?? []),
  );
  if (groups.length === 0) return { score: 100, p: 1, makers: undefined, example: '' };
  const observed = sum(groups.map((group) => group.computeDiscrepancy(group.order)));
  let extremeCount = 0;
  for (let index = 0; index < permutationCount; index++) {
    const permuted = sum(groups.map((group) => group.computeDiscrepancy(shuffle(group.order, random))));
    if (permuted >= observed - 1e-9) extremeCount++;
  }
  const baselineSimilarity = sum(groups.map((group) => group.baselineSimilarity));
  const crossSimilarity = sum(groups.map((group) => group.crossSimilarity));
  const mostDifferent = groups.reduce((a, b) =>
    b.computeDiscrepancy(b.order) > a.computeDiscrepancy(a.order) ? b : a,
  );
  return {
    score: baselineSimilarity === 0 ? 100 : Math.min(100, Math.round((100 * crossSimilarity) / baselineSimilarity)),
    p: (extremeCount + 1) / (permutationCount + 1),
    makers: compareMakers(baseline[makerPrompt] ?? [], current[makerPrompt] ?? []),
    example: mostDifferent.describe(),
  };
}

class PromptAnswers {
  readonly order: readonly number[];
  readonly #prompt: string;
  readonly #answers: readonly string[]; // the baseline's first
  readonly #baselineCount: number;
  readonly #kernel: readonly (readonly number[])[]; // similarity of each pair of answers

  constructor(prompt: string, before: readonly string[], now: readonly string[]) {
    this.#prompt = prompt;
    this.#answers = [...before, ...now];
    this.#baselineCount = before.length;
    this.order = this.#answers.map((_, index) => index);
    const words = this.#answers.map(splitWords);
    this.#kernel = words.map((a) => words.map((b) => computeWordOverlap(a, b)));
  }

  /** @param order permutation of the answers; the first ones take the place of the baseline's */
  computeDiscrepancy(order: readonly number[]): number {
    const before = order.slice(0, this.#baselineCount);
    const now = order.slice(this.#baselineCount);
    return (
      this.#meanSimilarity(before, before) + this.#meanSimilarity(now, now) - 2 * this.#meanSimilarity(before, now)
    );
  }

  get baselineSimilarity(): number {
    const before = this.order.slice(0, this.#baselineCount);
    return this.#meanSimilarity(before, before);
  }

  get crossSimilarity(): number {
    return this.#meanSimilarity(this.order.slice(0, this.#baselineCount), this.order.slice(this.#baselineCount));
  }

  describe(): string {
    const [before = '', now = ''] = [this.#answers[0], this.#answers[this.#baselineCount]];
    return `${this.#prompt} Before: “${before.slice(0, 80)}”, now: “${now.slice(0, 80)}”`;
  }

  #meanSimilarity(first: readonly number[], second: readonly number[]): number {
    // Creates no lists, because one comparison runs this very often.
    let total = 0;
    let pairs = 0;
    for (const a of first)
      for (const b of second) {
        if (a === b) continue;
        total += this.#kernel[a]?.[b] ?? 0;
        pairs++;
      }
    return total / Math.max(1, pairs);
  }
}

function splitWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

function computeWordOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const unionSize = a.union(b).size;
  return unionSize === 0 ? 1 : a.intersection(b).size / unionSize;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function shuffle(order: readonly number[], random: () => number): number[] {
  const shuffledOrder = [...order];
  for (let index = shuffledOrder.length - 1; index > 0; index--) {
    const otherIndex = Math.floor(random() * (index + 1));
    [shuffledOrder[index], shuffledOrder[otherIndex]] = [
      shuffledOrder[otherIndex] as number,
      shuffledOrder[index] as number,
    ];
  }
  return shuffledOrder;
}

function createSeededRandom(seed: number): () => number {
  // mulberry32, seeded so that the same answers always have the same result.
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const makerPatterns: Readonly<Record<string, RegExp>> = {
  OpenAI: /\b(openai|gpt)\b/i,
  Anthropic: /\b(anthropic|claude)\b/i,
  Google: /\b(google|gemini|gemma)\b/i,
  DeepSeek: /\bdeepseek\b/i,
  Alibaba: /\b(alibaba|qwen|tongyi)\b/i,
  Mistral: /\b(mistral|mixtral)\b/i,
  Meta: /\b(meta ai|meta|llama)\b/i,
  xAI: /\b(xai|grok)\b/i,
  Moonshot: /\b(moonshot|kimi)\b/i,
  'Z.ai': /\b(zhipu|z\.ai|glm)\b/i,
  MiniMax: /\bminimax\b/i,
};

function findMaker(answers: readonly string[]): string | undefined {
  const namedMakers = answers.flatMap(
    (answer) => Object.keys(makerPatterns).find((maker) => makerPatterns[maker]?.test(answer)) ?? [],
  );
  return namedMakers.find((maker) => namedMakers.filter((other) => other === maker).length > answers.length / 2);
}

function compareMakers(before: readonly string[], now: readonly string[]): Comparison['makers'] {
  const [baselineMaker, currentMaker] = [findMaker(before), findMaker(now)];
  return baselineMaker === undefined || currentMaker === undefined || baselineMaker === currentMaker
    ? undefined
    : [baselineMaker, currentMaker];
}
