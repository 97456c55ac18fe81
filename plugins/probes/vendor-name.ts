/** Returns the name of the upstream: `example` for https://api.example.com/v1. */
export function upstreamNameOf(url: string): string {
  const { hostname } = new URL(url);
  const labels = hostname.split('.');
  const isAddress = hostname.startsWith('[') || labels.every((part) => /^\d+$/.test(part));
  const label = isAddress ? '' : (labels.at(-2) ?? labels[0] ?? '');
  return label.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'vendor';
}

/** Returns the environment variable of an upstream's key, whose name cannot begin with a digit. */
export function variableOf(upstream: string): string {
  const name = `${upstream.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  return /^\d/.test(name) ? `VENDOR_${name}` : name;
}
