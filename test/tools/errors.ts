import { faultOfEnd, type Report } from './check.ts';
import { failingModels, smallModel, type ToolsFixture } from './fixture.ts';
import type { InstalledCli } from './install.ts';
import type { UserHome } from './user-home.ts';

interface ToolError {
  readonly status: string;
  /** The model that the tools are set up with. */
  readonly model: string;
  /** What makes it fail, behind the setup. */
  cause?(fixture: ToolsFixture): Promise<void>;
}

/** The last two change the account. */
const errors: readonly ToolError[] = [
  ...failingModels
    .filter((status) => status !== '404')
    .map((status): ToolError => ({ status, model: `dp/fails-${status}` })),
  { status: '404', model: 'dp/fails-404', cause: (fixture) => fixture.remove('dp/fails-404') },
  { status: '402', model: smallModel.name, cause: (fixture) => fixture.endPlan() },
  { status: '401', model: smallModel.name, cause: (fixture) => fixture.rotate() },
];

/** Long enough for a message, not for clients that retry without end. */
const timeout = 60_000; // ms
const shownLines = 12;
const stackFrame = /^\s+at .*:\d+/;

/** Gives every tool a task that ends with each error, and prints what it shows. */
export async function showErrors(
  fixture: ToolsFixture,
  home: UserHome,
  clis: readonly InstalledCli[],
  report: Report,
): Promise<void> {
  for (const error of errors) {
    const { status, model, cause } = error;
    console.log(`\n${status}`);
    if (status !== '401') {
      const environment = { DAYPASS_API_KEY: fixture.key };
      report('the tools are set up', faultOfEnd(await home.script(['--yes', '--model', model], { environment })));
    }
    await cause?.(fixture);
    for (const cli of clis) await showError(fixture, home, cli, error);
  }
}

async function showError(
  fixture: ToolsFixture,
  home: UserHome,
  cli: InstalledCli,
  { status, model: name }: ToolError,
): Promise<void> {
  // Without an account there is no record.
  const isRecorded = status !== '401';
  const { prompt } = fixture.model.begin();
  const since = Date.now();
  const words = [cli.command, ...cli.parameters(prompt, { providerId: fixture.slug, model: { name } })];
  const cwd = await home.workFolder();
  const {
    isTimeout,
    code,
    seconds,
    out,
    errors: stderr,
  } = await home.terminal(words, {
    cwd,
    environment: cli.offline ?? {},
    timeout,
  });
  const { length } = await fixture.recordsOf({ since, until: Date.now() + 1 }, isRecorded ? 1 : 0);
  console.log(
    `  ${cli.id}: ${length} requests, ${isTimeout ? 'still running' : `exit ${code}`} after ${seconds.toFixed(1)} s`,
  );
  const lines = `${out}\n${stderr}`.split('\n').filter((line) => line.trim() !== '' && !stackFrame.test(line));
  for (const line of lines.slice(-shownLines)) console.log(`      ${line.slice(0, 300)}`);
}
