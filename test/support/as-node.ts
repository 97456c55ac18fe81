/** Makes this process take itself for another version of Node.js, such as `26.10.0`, until it is disposed. */
export function runAsNode(version: string): Disposable {
  const original = Object.getOwnPropertyDescriptor(process, 'versions') as PropertyDescriptor;
  Object.defineProperty(process, 'versions', { ...original, value: { ...process.versions, node: version } });
  return { [Symbol.dispose]: () => void Object.defineProperty(process, 'versions', original) };
}

/** Options of Node.js by which a process takes itself for another version. */
export function asNode(version: string): string[] {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return ['--import', `data:text/javascript,${code}`];
}
