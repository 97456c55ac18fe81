import type { ModelKind } from '#core/config/catalog/kinds.ts';
import { type ClientFormat, modelEndpoint } from '../contract/descriptor.ts';
import { parameters, type ParameterRules } from '../contract/parameters.ts';
import { integer, text } from '../contract/rules.ts';
import { WholeObserver } from '../contract/whole-observer.ts';

interface ListFormat {
  readonly name: string;
  readonly kind: ModelKind;
  readonly required: readonly string[];
  readonly parameters: ParameterRules;
}

/** Defines a format with one endpoint that takes JSON and returns a list of results. */
function listFormat({ name, kind, required, parameters: rules }: ListFormat): ClientFormat {
  return {
    name,
    kind,
    dialect: 'openai',
    reasoningStyles: [],
    path: () => `/${name}`,
    client: {
      endpoints: [modelEndpoint(name, `/v1/${name}`, required, { isStream: false })],
      parameters: rules,
      observe: () => new WholeObserver('results'),
      modelPlace: { member: 'model' },
    },
  };
}

/** OpenAI's Moderations API. Source: OpenAI API reference, "Create moderation". */
export const moderations = listFormat({
  name: 'moderations',
  kind: 'moderation',
  required: ['input'],
  parameters: parameters({}),
});

/** The reranking API that vendors share. Sources: Cohere and Jina API references, "Rerank"; vLLM and others serve the same. */
export const rerank = listFormat({
  name: 'rerank',
  kind: 'rerank',
  required: ['query', 'documents'],
  parameters: parameters({ query: text, top_n: integer(1) }),
});
