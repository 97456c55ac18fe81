const unreached = 1_000_000; // so high that no load reaches it

export function benchPipeline(upstream: string): string {
  return `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: ${unreached}, period: 1, burst: ${unreached}, concurrent: ${unreached} }
  - cache
  - format
  - upstream
  - log
upstreams:
  bench: { format: chat, base_url: "${upstream}/v1" }
  messages: { format: messages, base_url: "${upstream}/v1" }
  responses: { format: responses, base_url: "${upstream}/v1" }
  choice: { format: chat, base_url: "${upstream}/v1", api_keys: [one, two] }
models:
  bench: { routes: [bench/elsewhere] }
  bench-messages: { routes: [messages/elsewhere] }
  bench-responses: { routes: [responses/elsewhere] }
  bench-choice: { routes: [choice/elsewhere, bench/elsewhere] }
`;
}
