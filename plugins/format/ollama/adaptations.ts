import { adaptLimit, adaptSampling, adaptStops } from '../pass-through/adapt-parameters.ts';
import { adaptRefused } from '../pass-through/adapt-refused.ts';
import { inOrder, withInner } from '../pass-through/adaptation.ts';

/** Adapts an Ollama request to the capabilities and quirks of a route. */
export const adaptOllama = inOrder(
  withInner('options', adaptLimit(['num_predict'])),
  withInner('options', adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty'])),
  withInner('options', adaptStops('stop')),
  adaptRefused(),
);
