import { mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The folder of the journal, on its volume. Under the mount point of an unmounted volume, files would fill another disk and be
 * hidden once the volume is back.
 */
export class JournalFolder {
  readonly path: string;
  /** Devices on which the folder would be if its volume, or one above it, were unmounted. */
  readonly #underlying: ReadonlySet<number>;

  constructor(path: string) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.path = path;
    const devices = [path, ...ancestorsOf(path)].map((each) => statSync(each).dev);
    this.#underlying = new Set(devices.filter((device) => device !== devices[0]));
  }

  /**
   * Makes the folder again if it is gone.
   *
   * @throws Error that says why the folder cannot be used and what to do
   */
  ensure(): void {
    const found = lookUp(this.path);
    if (found?.isDirectory() === false)
      throw new Error(`${this.path} is no longer a folder; remove what is in its place`);
    const place =
      found ??
      ancestorsOf(this.path)
        .map(lookUp)
        .find((stats) => stats !== undefined);
    if (place !== undefined && this.#underlying.has(place.dev))
      throw new Error(`the volume of ${this.path} is not mounted; mount it`);
    if (found === undefined) mkdirSync(this.path, { recursive: true, mode: 0o700 });
  }
}

/** The folders above, up to the root. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}

function lookUp(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
