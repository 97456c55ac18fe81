import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GatewayHome, GatewayProcess } from '../support/gateway-home.ts';

const pollInterval = 5; // ms
const timeout = 60_000; // ms

/** A gateway whose event loop is watched, see loop-watch.ts. */
export class WatchedLoop {
  readonly gateway: GatewayProcess;
  readonly #file: string;
  #questions = 0;

  private constructor(gateway: GatewayProcess, file: string) {
    this.gateway = gateway;
    this.#file = file;
  }

  static async start(home: GatewayHome): Promise<WatchedLoop> {
    const file = join(home.folder, 'loop-watch');
    await writeFile(file, '');
    const watch = join(import.meta.dirname, 'loop-watch.ts');
    const launcher = [process.execPath, '--import', watch, 'core/main.mjs'];
    return new WatchedLoop(await home.start({ LOOP_WATCH: file }, launcher), file);
  }

  /** Ms of the longest turn since the last question. @throws when the gateway does not answer for a minute */
  async longestTurn(): Promise<number> {
    const question = this.#questions++;
    this.gateway.process.kill('SIGUSR2');
    for (const end = performance.now() + timeout; performance.now() < end;) {
      const lines = (await readFile(this.#file, 'utf8')).split('\n');
      if (lines.length > question + 1) return Number(lines[question]);
      await new Promise((resolve) => setTimeout(resolve, pollInterval));
    }
    throw new Error(`the event loop stands still:\n${this.gateway.output()}`);
  }
}
