const faultNames = ['slow', 'stall', 'stall-midway', 'cut', 'error-event', 'error-midway', 'html', 'empty'] as const;

export type DemoFault =
  | { readonly kind: (typeof faultNames)[number] }
  | { readonly kind: 'status'; readonly status: number };

/** Any other model behaves like `chatty`. */
export const modelNames = ['chatty', 'fail-500', 'fail-503', 'fail-429', ...faultNames] as const;

const directivePattern = /\[\[\s*(?:status\s+(\d{3})|([a-z][a-z0-9-]*))\s*\]\]/gi;

/** A directive in the prompt, such as `[[status 503]]`, takes precedence over the model's name. */
export function findFault(model: string, text: string): DemoFault | undefined {
  const directives = text.matchAll(directivePattern).map(([, status, name]) => parseStatus(status) ?? parseName(name));
  return directives.find((fault) => fault !== undefined) ?? parseName(model);
}

function parseName(name: string | undefined): DemoFault | undefined {
  if (name === 'error') return { kind: 'error-event' };
  const kind = faultNames.find((candidate) => candidate === name?.toLowerCase());
  return kind === undefined ? parseStatus(/^fail-(\d{3})$/.exec(name ?? '')?.[1]) : { kind };
}

function parseStatus(text: string | undefined): DemoFault | undefined {
  const status = Number(text);
  return status >= 400 && status <= 599 ? { kind: 'status', status } : undefined;
}
