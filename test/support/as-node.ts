/** Until disposed. `version` is such as `26.10.0`. */
export function runAsNode(version: string): Disposable {
  const original = Object.getOwnPropertyDescriptor(process, 'versions') as PropertyDescriptor;
  Object.defineProperty(process, 'versions', { ...original, value: { ...process.versions, node: version } });
  return { [Symbol.dispose]: () => void Object.defineProperty(process, 'versions', original) };
}

/** Options for a process of its own. */
export function asNode(version: string): string[] {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return ['--import', `data:text/javascript,${code}`];
}
