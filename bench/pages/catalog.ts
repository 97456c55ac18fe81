/** The benchmarked gateway serves the models and routes of the seeded records. */
export const models: Readonly<Record<string, readonly [primary: string, backup: string]>> = {
  'gpt-6-sol': ['openai/gpt-6-sol', 'azure/gpt-6-sol'],
  'gpt-6-luna': ['openai/gpt-6-luna', 'azure/gpt-6-luna'],
  'claude-sonnet': ['anthropic/claude-sonnet-5-5', 'bedrock/claude-sonnet-5-5'],
  'gemini-flash': ['google/gemini-3.8-flash', 'openrouter/gemini-3.8-flash'],
  'llama-4-maverick-instruct': ['groq/llama-4-maverick', 'together/llama-4-maverick'],
  'qwen3-coder': ['dashscope/qwen3-coder-plus', 'openrouter/qwen3-coder'],
};

export const operator = 'operator@example.com'; // sees the operator's pages

/** `upstream` is the URL of the only server, to which all routes lead. */
export function gatewayYaml(upstream: string): string {
  const names = new Set(
    Object.values(models)
      .flat()
      .map((route) => route.split('/', 1).join()),
  );
  // The balances date from before all records, so that all of them are added up.
  const own = [...names].slice(0, 3);
  const asOf = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
  const limits = '{ limit: 1000000, period: 1, burst: 1000000, concurrent: 1000000 }';
  return `
service: { name: Bench, prefix: dp }
operators: [${operator}]
pipeline: [auth, plan, { rate-limit: ${limits} }, cache, format, upstream, log: { keep_days: 40 }]
upstreams:
${[...names].map((name) => `  ${name}: { format: chat, base_url: "${upstream}/v1", cost: { input: 20000, output: 80000 } }`).join('\n')}
models:
${Object.entries(models)
  .map(([name, routes]) => `  ${name}: { routes: [${routes.join(', ')}] }`)
  .join('\n')}
balances: { ask: false, own: { ${own.map((name) => `${name}: { amount: 100000000, as_of: ${asOf} }`).join(', ')} } }
plans:
  - { days: 1, price: 18000 }
  - { days: 30, price: 289000 }
`;
}
