// Checks that the settings of a tool are in place, that the gateway serves what it needs, and that the tool itself works.

import { unlessRefused } from '../edit/common.mjs';
import { findBlock } from './blocks.mjs';
import { editSettings } from './edit.mjs';
import { readFormerTools, readSavedModel } from './former.mjs';
import { readKey } from './key.mjs';
import { encode, machine } from './machine.mjs';
import { describeTarget } from './models.mjs';
import { checkModel } from './options.mjs';
import { findFile, isSamePath, listPaths, resolveLinks, formatPath } from './paths.mjs';
import { askModel } from './question.mjs';
import { listFiles, readRecords, readTools } from './records.mjs';
import { computer, formatOption, printable, printVerdict, run, Stop } from './run.mjs';
import { variables } from './variables.mjs';
import { fillPlaceholders } from './variant.mjs';

export function verify() {
  checkModel(run.options);
  readFormerTools();
  const chosen = run.data.tools.filter(({ id }) => run.options.tools.length === 0 || run.options.tools.includes(id));
  const installed = chosen.filter(({ id }) => isSetUp(id) || run.former.has(id) || run.moving.has(id));
  if (installed.length === 0)
    throw new Stop(`No tool is set up on this ${computer}. Run this without ${formatOption('verify')} first.`);
  if (installed.some(({ id }) => describeUnfinishedMove(id) === '')) readKey();
  for (const tool of installed) {
    const problem = describeUnfinishedMove(tool.id);
    const { verdict, details } = problem
      ? { verdict: 'outdated', details: problem }
      : unlessRefused(
          () => verifyTool(tool),
          ({ message }) => failWith(message),
        );
    if (verdict !== 'works') run.hasFailed = true;
    printVerdict(tool.name, verdict, details);
  }
}

function isSetUp(id) {
  return readTools('tools').has(id) || listFiles(id).length > 0;
}

function describeUnfinishedMove(id) {
  if (run.moving.has(id)) return 'the last run was interrupted. Run the setup again to complete it';
  if (!run.former.has(id) || isSetUp(id)) return '';
  return `it is set up under a former name of ${printable(run.data.service)}. Run the setup again to update it`;
}

function verifyTool(tool) {
  const target = describeTarget(tool, readSavedModel(tool.id));
  const changed = [...findChangedSettings(tool.id), ...variables.changed(tool.id)];
  if (changed.length > 0)
    return failWith(`settings changed: ${changed.join(', ')}. Run the setup again to restore them`);
  const pendingFiles = findPendingFiles(tool.id, target);
  if (pendingFiles.length > 0)
    return { verdict: 'manual', details: `${pendingFiles.join(', ')}: put the settings there, or run the setup again` };
  if (isOutdated(tool.id, target))
    return {
      verdict: 'outdated',
      details: `its settings are not those that ${run.data.baseUrl} gives now. Run the setup again to update them`,
    };
  const { problem, seconds } = askModel(tool.format, target.model);
  return problem ? failWith(problem) : tryTool(tool, target, `${target.model}, ${seconds} s`);
}

const failWith = (details) => ({ verdict: 'failed', details });

function findChangedSettings(id) {
  return readRecords(id).flatMap(({ path, format, identity, wanted, after }) => {
    const current = machine.stat(path)?.kind === 'file' ? machine.read(path) : undefined;
    if (current === undefined) return [`${formatPath(path)} is gone`];
    if (current === after) return [];
    if (format === 'text') return [formatPath(path)];
    if (format !== 'block')
      return unlessRefused(
        () => editSettings('check', { format, identity }, { current, wanted }).missing,
        ({ message }) => [`${formatPath(path)} cannot be read (${message})`],
      );
    const isThere = () => findBlock(current).lines.replace(/\r/g, '') === wanted;
    return unlessRefused(isThere, () => false) ? [] : [`the block in ${formatPath(path)}`];
  });
}

function findPendingFiles(id, { files, places }) {
  const records = readRecords(id);
  return files.flatMap((action) => {
    if (!action.text.includes(run.data.baseUrl)) return [];
    const path = findFile(listPaths(action), places);
    const real = resolveLinks(path);
    if (records.some((record) => isSamePath(record.path, real) || record.source === listPaths(action).join('|')))
      return [];
    const content = machine.stat(real)?.kind === 'file' ? machine.read(real) : '';
    // Without the address, the person has not added the settings yet.
    return content.includes(run.data.baseUrl) ? [] : [formatPath(path)];
  });
}

function isOutdated(id, target) {
  // A model or key given on the command line is only tested.
  if (run.options.model || run.options.keyFile) return false;
  const wanted = new Set(
    [...target.files, ...target.otherFiles].map(({ text }) =>
      encode(`${fillPlaceholders(text, target.fill).replace(/\n+$/, '')}\n`),
    ),
  );
  return readRecords(id).some((record) => !wanted.has(record.wanted)) || variables.isOutdated(target.variables);
}

function tryTool({ commands }, { trial, variables: env }, details) {
  // PowerShell scripts are not programs that can be started.
  const program =
    trial && commands.map((command) => machine.which(command)).find((path) => path && !/\.ps1$/i.test(path));
  const folder = machine.env('SETUP_WORK');
  if (!program || !folder) return { verdict: 'works', details };
  const startedAt = Date.now();
  // Runs without a terminal, with a tiny prompt, in an empty folder.
  const { code, output, errors } = machine.spawn(program, trial, {
    seconds: 180,
    folder,
    env: Object.fromEntries(env),
  });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  if (code === 0 && output.trim() !== '')
    return { verdict: 'works', details: `${details}; it answered in ${seconds} s` };
  const name = commands[0];
  if (code === -2) return failWith(`the gateway answers, but ${name} gave no answer within 180 s`);
  const line = printable((errors.trim() || output.trim()).split('\n').pop())
    .replaceAll(run.key, run.keyHint)
    .slice(0, 300);
  const end = code === 0 ? 'ended without an answer' : `ended with ${code}`;
  return failWith(`the gateway answers, but ${name} ${end}${line ? `: ${line}` : ''}`);
}
