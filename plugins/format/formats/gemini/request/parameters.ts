import {
  bothCases,
  integer,
  number,
  object,
  objectOr,
  objects,
  parameters,
  nonEmptyObjects,
  text,
  textOr,
  textOrObject,
  texts,
} from '../../contract/parameters.ts';

/** Most tokens of a thinking budget that every model accepts. Source: Gemini docs, "Thinking". */
export const maxThinkingTokens = 24_576;

/** Source: Gemini API reference, "GenerateContent". */
export const geminiParameters = parameters(
  {
    contents: nonEmptyObjects,
    // The API takes one entry for a list of one.
    tools: objectOr(objects),
    toolConfig: object,
    generationConfig: object,
    'generationConfig.temperature': number(0, 2),
    'generationConfig.topP': number(0, 1),
    'generationConfig.topK': integer(0),
    'generationConfig.maxOutputTokens': integer(1),
    'generationConfig.candidateCount': integer(1, 8),
    'generationConfig.stopSequences': textOr(texts),
    'generationConfig.presencePenalty': number(-2, 2),
    'generationConfig.frequencyPenalty': number(-2, 2),
    'generationConfig.seed': integer(-(2 ** 31), 2 ** 31),
    'generationConfig.responseMimeType': text,
    'generationConfig.thinkingConfig': object,
    systemInstruction: textOrObject,
  },
  bothCases,
);
