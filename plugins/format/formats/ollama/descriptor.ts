import { NdjsonFramer } from '#core/gateway/model-call/ndjson-framer.ts';
import { commonNameRules } from '../../canonical/tool-names.ts';
import { readMember, listTexts } from '../../wire/members.ts';
import type { OllamaOptions, OllamaRequest } from '../../wire/ollama.ts';
import { adaptMember } from '../adaptation/adapt-members.ts';
import { adaptOutputLimit, adaptSampling, adaptStops } from '../adaptation/adapt-parameters.ts';
import { adaptRefused } from '../adaptation/adapt-refused.ts';
import { chainAdaptations } from '../contract/adaptation.ts';
import type { TextFormat } from '../contract/descriptor.ts';
import { OllamaDecoder } from './decode-reply.ts';
import { encodeRequest } from './encode-request.ts';

const adaptOllama = chainAdaptations(
  adaptMember('options', adaptOutputLimit(['num_predict'])),
  adaptMember('options', adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty'])),
  adaptMember('options', adaptStops('stop')),
  adaptRefused(),
);

/** Ollama's native chat API. For upstreams only, because Ollama's own server serves Ollama clients better. */
export const ollama: TextFormat = {
  name: 'ollama',
  kind: 'chat',
  dialect: 'openai',
  reasoningStyles: ['effort', 'enable_thinking', 'none'],
  path: () => '/chat',
  text: {
    encodeRequest,
    createDecoder: () => new OllamaDecoder(),
    stream: { type: 'application/x-ndjson', createFramer: () => new NdjsonFramer() },
    toolNames: commonNameRules,
    stateKinds: [],
    features: {
      freeformTools: false,
      forcedTools: false,
      resultImages: false,
      imageUrls: 'none',
      parallelCallOption: false,
      reasoning: 'text',
    },
    readStopSequences: ({ options }: OllamaRequest) => listTexts(readMember<OllamaOptions>(options, 'stop')),
    adapt: adaptOllama,
  },
};
