import type { ModelKind } from '#core/config/catalog/kinds.ts';
import { type ClientFormat, defineModelEndpoint } from '../contract/descriptor.ts';
import { NonStreamingObserver } from '../contract/non-streaming-observer.ts';
import { compileParameters, type ParameterRules } from '../contract/parameters.ts';
import { integer, text } from '../contract/rules.ts';

interface ListFormat {
  readonly name: string;
  readonly kind: ModelKind;
  readonly required: readonly string[];
  readonly vendor: string;
  readonly reference?: string;
  readonly parameters: ParameterRules;
}

function defineListFormat({ name, kind, required, parameters: rules, ...documented }: ListFormat): ClientFormat {
  return {
    name,
    kind,
    dialect: 'openai',
    reasoningStyles: [],
    path: () => `/${name}`,
    client: {
      ...documented,
      endpoints: [defineModelEndpoint(name, `/v1/${name}`, required, { isStream: false })],
      parameters: rules,
      createObserver: () => new NonStreamingObserver('results'),
      modelPlace: { member: 'model' },
    },
  };
}

/** OpenAI's Moderations API. Source: OpenAI API reference, "Create moderation". */
export const moderations = defineListFormat({
  name: 'moderations',
  kind: 'moderation',
  vendor: 'OpenAI',
  reference: 'https://platform.openai.com/docs/api-reference/moderations/create',
  required: ['input'],
  parameters: compileParameters({}),
});

/** The reranking API that several vendors share. Sources: Cohere and Jina API references, "Rerank"; vLLM and others serve the same one. */
export const rerank = defineListFormat({
  name: 'rerank',
  kind: 'rerank',
  vendor: 'Rerank',
  required: ['query', 'documents'],
  parameters: compileParameters({ query: text, top_n: integer(1) }),
});
