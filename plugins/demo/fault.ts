const faultNames = ['slow', 'stall', 'stall-midway', 'cut', 'error-event', 'error-midway', 'html', 'empty'] as const;

export type DemoFault =
  | { readonly kind: (typeof faultNames)[number] }
  | { readonly kind: 'status'; readonly status: number };

/** The models that `GET /v1/models` lists. Any other name is answered like `chatty`. */
export const modelNames = ['chatty', 'fail-500', 'fail-503', 'fail-429', ...faultNames] as const;

const directive = /\[\[\s*(?:status\s+(\d{3})|([a-z][a-z0-9-]*))\s*\]\]/gi;

/** Finds the requested fault: a directive in the prompt, such as `[[status 503]]`, or else the model's name. */
export function findFault(model: string, text: string): DemoFault | undefined {
  const directives = text.matchAll(directive).map(([, status, name]) => statusFault(status) ?? namedFault(name));
  return directives.find((fault) => fault !== undefined) ?? namedFault(model);
}

function namedFault(name: string | undefined): DemoFault | undefined {
  if (name === 'error') return { kind: 'error-event' };
  const kind = faultNames.find((known) => known === name?.toLowerCase());
  return kind === undefined ? statusFault(/^fail-(\d{3})$/.exec(name ?? '')?.[1]) : { kind };
}

function statusFault(text: string | undefined): DemoFault | undefined {
  const status = Number(text);
  return status >= 400 && status <= 599 ? { kind: 'status', status } : undefined;
}
