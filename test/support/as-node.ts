/** This process reports the version, such as `26.10.0`, until disposed. */
export function runAsNode(version: string): Disposable {
  const original = Object.getOwnPropertyDescriptor(process, 'versions') as PropertyDescriptor;
  Object.defineProperty(process, 'versions', { ...original, value: { ...process.versions, node: version } });
  return { [Symbol.dispose]: () => void Object.defineProperty(process, 'versions', original) };
}

/** Node.js options that make a child process report the version. */
export function asNode(version: string): string[] {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return ['--import', `data:text/javascript,${code}`];
}
