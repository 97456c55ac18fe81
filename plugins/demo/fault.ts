/** How a route can fail when it is asked to; README.md tells what each does. */
const faultNames = ['slow', 'stall', 'stall-midway', 'cut', 'error-event', 'error-midway', 'html', 'empty'] as const;

type FaultName = (typeof faultNames)[number];

export type Fault = { readonly kind: FaultName } | { readonly kind: 'status'; readonly status: number };

/** Names that `GET /v1/models` lists. Every other name is answered too, like `chatty`. */
export const modelNames = ['chatty', 'fail-500', 'fail-503', 'fail-429', ...faultNames] as const;

const directive = /\[\[\s*(?:status\s+(\d{3})|([a-z][a-z0-9-]*))\s*\]\]/gi;

/** What is asked to go wrong: by a directive in the prompt, such as `[[status 503]]`, or else by the model's name. */
export function faultOf(model: string, text: string): Fault | undefined {
  const asked = text.matchAll(directive).map(([, status, name]) => statusFault(status) ?? namedFault(name));
  return asked.find((fault) => fault !== undefined) ?? namedFault(model);
}

function namedFault(name: string | undefined): Fault | undefined {
  if (name === 'error') return { kind: 'error-event' };
  const kind = faultNames.find((known) => known === name?.toLowerCase());
  return kind === undefined ? statusFault(/^fail-(\d{3})$/.exec(name ?? '')?.[1]) : { kind };
}

function statusFault(text: string | undefined): Fault | undefined {
  const status = Number(text);
  return status >= 400 && status <= 599 ? { kind: 'status', status } : undefined;
}
