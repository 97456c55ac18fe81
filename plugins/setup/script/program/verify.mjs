import { unlessRefused } from '../edit/common.mjs';
// Checks whether the settings of a tool are still there, whether the gateway answers as the tool needs it, and whether the tool does.
import { blockOf } from './blocks.mjs';
import { editSettings } from './edit.mjs';
import { readFormer, savedModel } from './former.mjs';
import { readKey } from './key.mjs';
import { encode, machine } from './machine.mjs';
import { wishesOf } from './models.mjs';
import { checkModel } from './options.mjs';
import { expandFirst, isSamePath, placesOf, resolveLinks, show } from './paths.mjs';
import { askModel } from './question.mjs';
import { listFiles, readRecords, readTools } from './records.mjs';
import { computer, option, printable, printVerdict, run, Stop } from './run.mjs';
import { variables } from './variables.mjs';
import { fill } from './variant.mjs';

export function verify() {
  checkModel(run.options);
  readFormer();
  const chosen = run.data.tools.filter(({ id }) => run.options.tools.length === 0 || run.options.tools.includes(id));
  const present = chosen.filter(({ id }) => isSetUp(id) || run.former.has(id) || run.moving.has(id));
  if (present.length === 0)
    throw new Stop(`No tool is set up on this ${computer}. Run this without ${option('verify')} first.`);
  if (present.some(({ id }) => unsettled(id) === '')) readKey();
  for (const tool of present) {
    const problem = unsettled(tool.id);
    const { verdict, details } = problem
      ? { verdict: 'outdated', details: problem }
      : unlessRefused(
          () => verifyTool(tool),
          ({ message }) => failed(message),
        );
    if (verdict !== 'works') run.hasFailed = true;
    printVerdict(tool.name, verdict, details);
  }
}

function isSetUp(id) {
  return readTools('tools').has(id) || listFiles(id).length > 0;
}

/** Reason why the tool lacks its settings under the present name; '' for none. */
function unsettled(id) {
  if (run.moving.has(id)) return 'the last run was interrupted. Run the setup again to complete it';
  if (!run.former.has(id) || isSetUp(id)) return '';
  return `it is set up under a former name of ${printable(run.data.service)}. Run the setup again to update it`;
}

function verifyTool(tool) {
  const wishes = wishesOf(tool, savedModel(tool.id));
  const changed = [...findChanges(tool.id), ...variables.changed(tool.id)];
  if (changed.length > 0) return failed(`settings changed: ${changed.join(', ')}. Run the setup again to restore them`);
  const unwritten = findUnwritten(tool.id, wishes);
  if (unwritten.length > 0)
    return { verdict: 'manual', details: `${unwritten.join(', ')}: put the settings there, or run the setup again` };
  if (isOutdated(tool.id, wishes))
    return {
      verdict: 'outdated',
      details: `its settings are not those that ${run.data.baseUrl} gives now. Run the setup again to update them`,
    };
  const { problem, seconds } = askModel(tool.format, wishes.model);
  return problem ? failed(problem) : startTool(tool, wishes, `${wishes.model}, ${seconds} s`);
}

const failed = (details) => ({ verdict: 'failed', details });

/** The names of settings of a tool that are not as they were written. */
function findChanges(id) {
  return readRecords(id).flatMap(({ path, format, identity, wanted, after }) => {
    const current = machine.look(path)?.kind === 'file' ? machine.read(path) : undefined;
    if (current === undefined) return [`${show(path)} is gone`];
    if (current === after) return [];
    if (format === 'text') return [show(path)];
    if (format !== 'block')
      return unlessRefused(
        () => editSettings('check', { format, identity }, { current, wanted }).missing,
        ({ message }) => [`${show(path)} cannot be read (${message})`],
      );
    const isThere = () => blockOf(current).lines.replace(/\r/g, '') === wanted;
    return unlessRefused(isThere, () => false) ? [] : [`the block in ${show(path)}`];
  });
}

/** The files of a tool that are not on record and do not name this gateway: a person was to put the settings there. */
function findUnwritten(id, { files, places }) {
  const records = readRecords(id);
  return files.flatMap((action) => {
    if (!action.text.includes(run.data.baseUrl)) return [];
    const path = expandFirst(placesOf(action), places);
    const real = resolveLinks(path);
    if (records.some((record) => isSamePath(record.path, real) || record.source === placesOf(action).join('|')))
      return [];
    const content = machine.look(real)?.kind === 'file' ? machine.read(real) : '';
    return content.includes(run.data.baseUrl) ? [] : [show(path)];
  });
}

/**
 * True when a run would write other settings than those on record: the catalog, the address or the key is another one. With a
 * model or key of the command line, the request answers a question about these.
 */
function isOutdated(id, wishes) {
  if (run.options.model || run.options.keyFile) return false;
  const wanted = new Set(
    [...wishes.files, ...wishes.otherFiles].map(({ text }) =>
      encode(`${fill(text, wishes.fill).replace(/\n+$/, '')}\n`),
    ),
  );
  return readRecords(id).some((record) => !wanted.has(record.wanted)) || variables.isOutdated(wishes.variables);
}

/** Gives a tool that works without a terminal one tiny request, in an empty folder, with its variables. */
function startTool({ commands }, { trial, variables: own }, asked) {
  // A script of PowerShell is no program that can be called.
  const program =
    trial && commands.map((command) => machine.find(command)).find((path) => path && !/\.ps1$/i.test(path));
  const folder = machine.env('SETUP_WORK');
  if (!program || !folder) return { verdict: 'works', details: asked };
  const began = Date.now();
  const { code, output, errors } = machine.call(program, trial, { seconds: 180, folder, env: Object.fromEntries(own) });
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  if (code === 0 && output.trim() !== '') return { verdict: 'works', details: `${asked}; it answered in ${seconds} s` };
  const name = commands[0];
  if (code === -2) return failed(`the gateway answers, but ${name} gave no answer within 180 s`);
  const line = printable((errors.trim() || output.trim()).split('\n').pop())
    .replaceAll(run.key, run.keyHint)
    .slice(0, 300);
  const end = code === 0 ? 'ended without an answer' : `ended with ${code}`;
  return failed(`the gateway answers, but ${name} ${end}${line ? `: ${line}` : ''}`);
}
