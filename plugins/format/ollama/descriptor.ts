import { NdjsonFramer } from '#core/model-call/ndjson-framer.ts';
import { plainNames } from '../canonical/tool-names.ts';
import type { TextFormat } from '../descriptor.ts';
import { member, textsOf } from '../request/members.ts';
import { adaptOllama } from './adaptations.ts';
import { OllamaDecoder } from './decode-reply.ts';
import { encodeRequest } from './encode-request.ts';

/** The native chat API of Ollama, for upstreams: clients of Ollama's are better served by its server itself. */
export const ollama: TextFormat = {
  name: 'ollama',
  dialect: 'openai',
  reasoningStyles: ['effort', 'enable_thinking', 'none'],
  path: () => '/chat',
  text: {
    encodeRequest,
    createDecoder: () => new OllamaDecoder(),
    stream: { type: 'application/x-ndjson', createFramer: () => new NdjsonFramer() },
    toolNames: plainNames,
    stateKinds: [],
    speaks: {
      freeformTools: false,
      forcedTools: false,
      resultImages: false,
      imageUrls: 'none',
      parallelSwitch: false,
      reasoning: 'text',
    },
    reportedStops: ({ options }) => textsOf(member(options, 'stop')),
    adapt: adaptOllama,
  },
};
