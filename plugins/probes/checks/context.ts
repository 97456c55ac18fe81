import { randomInt } from 'node:crypto';
import { readChat } from './chat-answer.ts';
import { type Check, failed, faultOf, isConversational, ok, question, tokenBudget, unknown } from './check.ts';

/** Share of the declared window to fill. */
const fillRatio = 0.9;
/** Lines of the sample that measures tokens per line. */
const sampleLines = 40;
/** Minimum share of the sent tokens that the vendor must count; less means that it truncated the prompt. */
const minCounted = 0.6;

const line = (index: number) => `Line ${index}: the river carried leaf ${(index * 7919) % 1000} past the old mill.`;

/** Places one code at the start and one in the middle, then asks for both. A truncated prompt has lost one of them. */
export const context: Check = {
  name: 'context',
  tries: 1,
  isDeclared: (route) => isConversational(route) && route.maxInputTokens !== undefined,
  cost: (route) => (route.maxInputTokens ?? 0) + tokenBudget(route, 64) + 2_000,
  async run(route, ask) {
    const window = route.maxInputTokens ?? 0;
    const lines = Array.from({ length: sampleLines }, (_, index) => line(index)).join('\n');
    const measured = await ask(question(route, `${lines}\nReply with the single word: ready`, 64));
    const first = faultOf(measured);
    if (first !== undefined) return first;
    const { input, isEstimated } = measured.usage ?? {};
    const perLine = Math.max(8, (isEstimated === true || input === undefined ? lines.length / 4 : input) / sampleLines);
    const count = Math.max(2, Math.floor((window * fillRatio) / perLine));
    const [code, other] = [randomInt(100_000, 1_000_000), randomInt(100_000, 1_000_000)];
    const written = Array.from({ length: count }, (_, index) => line(index));
    written.splice(Math.floor(count / 2), 0, `The second code is ${other}.`);
    const prompt = `The first code is ${code}.\n${written.join('\n')}\nWhat are the first code and the second code? Answer with the two numbers.`;
    const reply = await ask(question(route, prompt, 64));
    if (reply.fault === 'overflow') return failed('overflow', reply.error);
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const counted = reply.usage?.isEstimated === true ? undefined : reply.usage?.input;
    if (counted !== undefined && counted < count * perLine * minCounted)
      return failed('cut', `${counted} tokens counted of about ${Math.round(count * perLine)}`);
    const { text } = readChat(reply);
    if (text.includes(String(code)) && text.includes(String(other))) return ok;
    // The model may overlook the second code. A missing first code means that the start of the prompt was truncated.
    return text.includes(String(code)) ? unknown('unclear', text) : failed('cut', text);
  },
};
