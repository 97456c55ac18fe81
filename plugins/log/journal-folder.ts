import { existsSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of the journal, on the device on which it was at the start. Under the mount point of an unmounted volume, files
 * would fill another disk and be hidden once the volume is back.
 */
export class JournalFolder {
  readonly path: string;
  /** A file of this instance, which identifies the folder on a volume that was mounted again as another device. */
  readonly #ownFile: string;
  #device: number;

  constructor(path: string, ownFile: string) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.path = path;
    this.#ownFile = join(path, ownFile);
    this.#device = statSync(path).dev;
  }

  /**
   * Makes the folder again if it is gone.
   *
   * @throws Error that says why the folder cannot be used and what to do
   */
  ensure(): void {
    const found = lookUp(this.path);
    if (found === undefined) return this.#create();
    if (!found.isDirectory()) throw new Error(`${this.path} is no longer a folder; remove what is in its place`);
    if (found.dev === this.#device) return;
    if (!existsSync(this.#ownFile)) throw this.#onOtherDevice();
    this.#device = found.dev;
  }

  #create(): void {
    let parent = dirname(this.path);
    while (lookUp(parent) === undefined && dirname(parent) !== parent) parent = dirname(parent);
    if (statSync(parent).dev !== this.#device) throw this.#onOtherDevice();
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
  }

  #onOtherDevice(): Error {
    return new Error(`the volume of ${this.path} is not mounted; mount it, or restart the gateway to use another one`);
  }
}

function lookUp(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
