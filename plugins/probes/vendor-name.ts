/** Derives an upstream's name from its URL: `example` for https://api.example.com/v1, `vendor` for an IP address. */
export function deriveUpstreamName(url: string): string {
  const { hostname } = new URL(url);
  const labels = hostname.split('.');
  const isAddress = hostname.startsWith('[') || labels.every((part) => /^\d+$/.test(part));
  const label = isAddress ? '' : (labels.at(-2) ?? labels[0] ?? '');
  return label.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'vendor';
}

export function deriveKeyVariable(upstream: string): string {
  const name = `${upstream.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  return /^\d/.test(name) ? `VENDOR_${name}` : name;
}
