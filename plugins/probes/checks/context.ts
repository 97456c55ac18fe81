import { randomInt } from 'node:crypto';
import { readChat } from './chat-reply.ts';
import {
  type Check,
  failed,
  evaluateFault,
  isConversational,
  ok,
  buildQuestion,
  computeTokenBudget,
  unknown,
} from './check.ts';

const fillRatio = 0.9;
const sampleLineCount = 40;
const minCountedRatio = 0.6; // below this, the vendor has truncated the prompt

const writeLine = (index: number) =>
  `Line ${index}: the river carried leaf ${(index * 7919) % 1000} past the old mill.`;

export const context: Check = {
  name: 'context',
  maxTries: 1,
  isDeclared: (route) => isConversational(route) && route.maxInputTokens !== undefined,
  cost: (route) => (route.maxInputTokens ?? 0) + computeTokenBudget(route, 64) + 2_000,
  async run(route, ask) {
    const windowTokens = route.maxInputTokens ?? 0;
    const sampleText = Array.from({ length: sampleLineCount }, (_, index) => writeLine(index)).join('\n');
    const sampleReply = await ask(buildQuestion(route, `${sampleText}\nReply with the single word: ready`, 64));
    const sampleFault = evaluateFault(sampleReply);
    if (sampleFault !== undefined) return sampleFault;
    const { input, isEstimated } = sampleReply.usage ?? {};
    const tokensPerLine = Math.max(
      8,
      (isEstimated === true || input === undefined ? sampleText.length / 4 : input) / sampleLineCount,
    );
    const lineCount = Math.max(2, Math.floor((windowTokens * fillRatio) / tokensPerLine));
    // If the prompt is truncated, one of the codes is lost.
    const [firstCode, secondCode] = [randomInt(100_000, 1_000_000), randomInt(100_000, 1_000_000)];
    const promptLines = Array.from({ length: lineCount }, (_, index) => writeLine(index));
    promptLines.splice(Math.floor(lineCount / 2), 0, `The second code is ${secondCode}.`);
    const prompt = `The first code is ${firstCode}.\n${promptLines.join('\n')}\nWhat are the first code and the second code? Answer with the two numbers.`;
    const reply = await ask(buildQuestion(route, prompt, 64));
    if (reply.fault === 'overflow') return failed('overflow', reply.error);
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    const countedTokens = reply.usage?.isEstimated === true ? undefined : reply.usage?.input;
    if (countedTokens !== undefined && countedTokens < lineCount * tokensPerLine * minCountedRatio)
      return failed('cut', `${countedTokens} tokens counted of about ${Math.round(lineCount * tokensPerLine)}`);
    const { text } = readChat(reply);
    if (text.includes(String(firstCode)) && text.includes(String(secondCode))) return ok;
    // The model may overlook the second code. If the first is missing, the start of the prompt was cut off.
    return text.includes(String(firstCode)) ? unknown('unclear', text) : failed('cut', text);
  },
};
