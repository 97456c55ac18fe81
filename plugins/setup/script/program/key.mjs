// Where the API key comes from, and whether the gateway accepts it. Messages have run.keyHint instead of the key.
import { errorMessage, readJson, request } from './gateway.mjs';
import { machine } from './machine.mjs';
import { join } from './paths.mjs';
import { askKey, computer, isWindows, option, printable, run, Stop, warn } from './run.mjs';
import { storedTexts } from './variables.mjs';

/** Sets the key: of the question, the file, the settings (to verify), the variable, or ends the run so that it is asked for. */
export function readKey() {
  const { keyFile, action } = run.options;
  const typed = machine.read(join(machine.env('SETUP_WORK') ?? '', 'key'));
  if (keyFile) return useKey(readKeyFile(keyFile), `the file ${printable(keyFile)}`, false);
  if (typed) return useKey(typed, 'the input', true);
  if (action === 'verify' && findStoredKey()) return undefined;
  const variable = findKeyVariable();
  if (variable) return useKey(machine.env(variable), `the variable ${variable}`, true);
  return ask(
    `No key was given, and no terminal is available to ask for it. Set ${run.data.keyVariable}, or pass ${option('key-file')} FILE.`,
  );
}

/** Ends the run so that the launcher asks for the key; with a message if it cannot ask. */
function ask(message) {
  throw new Stop(canAsk() ? '' : message, canAsk() ? askKey : 1);
}

function canAsk() {
  return machine.env('SETUP_TERMINAL') === 'yes' && !run.options.keyFile && run.keySource !== 'the settings';
}

function useKey(value, source, isAskedAgain) {
  run.keySource = source;
  const problem = setKey(value.trim());
  if (!problem) return;
  if (isAskedAgain && canAsk()) warn(problem);
  if (isAskedAgain) ask(problem);
  throw new Stop(problem);
}

/**
 * @returns why this cannot be a key of this gateway. Keys of other services are refused here, so that they are never sent.
 */
function setKey(value) {
  const { keyPrefix } = run.data;
  const service = printable(run.data.service);
  if (value === '') return `The key in ${run.keySource} is empty.`;
  if (!/^[A-Za-z0-9_-]+$/.test(value))
    return `The key in ${run.keySource} has characters that no key of ${service} has. Copy it again, without quotes or spaces.`;
  if (!new RegExp(`^${keyPrefix}[-_].{12}`).test(value))
    return `The key in ${run.keySource} is not a key of ${service}: those begin with ${keyPrefix}-. Copy it again.`;
  run.key = value;
  run.keyHint = `${value.slice(0, keyPrefix.length + 5)}...${value.slice(-4)}`;
  return '';
}

/** The variable of this service, or else DAYPASS_API_KEY, unless the tools here are set up for a service of that name. */
export function findKeyVariable() {
  const { keyVariable, keyPrefix } = run.data;
  if (machine.env(keyVariable)?.trim()) return keyVariable;
  if (hasOtherDaypass()) return undefined;
  const isOurs = new RegExp(`^\\s*${keyPrefix}[-_]`).test(machine.env('DAYPASS_API_KEY') ?? '');
  return isOurs ? 'DAYPASS_API_KEY' : undefined;
}

/** True when the tools are set up for a service named Daypass, unless this one had that name: the address tells. */
function hasOtherDaypass() {
  const { baseUrl } = run.data;
  const folder = isWindows ? join(machine.env('LOCALAPPDATA') ?? '', 'daypass') : `${run.home}/.config/daypass`;
  if (!machine.look(folder)) return false;
  if (!isWindows) return !(machine.read(join(folder, 'env')) ?? '').includes(`# Written by ${baseUrl}/setup.sh,`);
  const records = ['files', 'variables'].flatMap((kind) =>
    machine.list(join(folder, 'setup', kind)).map((name) => join(folder, 'setup', kind, name)),
  );
  const texts = records.flatMap((record) => ['wanted', 'value'].map((part) => machine.read(join(record, part)) ?? ''));
  return !texts.some((text) =>
    [`${baseUrl}"`, `${baseUrl}/v1`, `${baseUrl}\n`].some((end) => `${text}\n`.includes(end)),
  );
}

/** Sets the key that the tools have: it can differ from the variable of this shell. False without one. */
export function findStoredKey() {
  const pattern = new RegExp(`(?<![A-Za-z0-9_-])${run.data.keyPrefix}[-_][A-Za-z0-9]{40,}(?![A-Za-z0-9_-])`);
  const found = storedTexts()
    .map((text) => pattern.exec(text)?.[0])
    .find(Boolean);
  run.keySource = 'the settings';
  return found !== undefined && setKey(found) === '';
}

/** A pipe, such as <(pass show key), is as good as a file; only its first 4 KiB are read. */
function readKeyFile(path) {
  const shown = printable(path);
  if (path === '-')
    throw new Stop(`The key cannot be read from the standard input. Name a file after ${option('key-file')}.`);
  const found = machine.look(path);
  if (!found) throw new Stop(`The key file ${shown} does not exist.`);
  if (found.kind === 'folder')
    throw new Stop(`The key file ${shown} is a folder. Name a file that holds the key and nothing else.`);
  if (!machine.isAllowed(path, false)) throw new Stop(`The key file ${shown} cannot be read. Check its permissions.`);
  if (!isWindows && found.kind === 'file' && found.mode & 0o44)
    warn(`Other users of this ${computer} can read ${shown}. Run: chmod 600 ${shown}`);
  const bytes = machine.read(path, 4096);
  // Files that Windows PowerShell writes are UTF-16 with a byte order mark.
  return bytes.replace(/^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replace(/\0/g, '');
}

/** Asks the gateway about the key; ends the run when it cannot be used. */
export function checkKey() {
  const answer = request('GET', '/v1/key');
  if (answer.failure) throw new Stop(`${answer.failure} Nothing was changed.`);
  if (answer.status === 401) {
    const problem = `${printable(run.data.service)} does not accept the key ${run.keyHint} from ${run.keySource}. Copy it again, or make a new one at ${run.data.baseUrl}.`;
    if (canAsk()) warn(problem);
    ask(problem);
  }
  checkPlan(answer);
}

function checkPlan(answer) {
  const url = `${run.data.baseUrl}/v1/key`;
  if (answer.status !== 200)
    throw new Stop(`${errorMessage(answer) || `${url} answered with ${answer.status}.`} Nothing was changed.`);
  const read = readJson(answer.body) ?? {};
  if (typeof read.active_period !== 'object')
    throw new Stop(
      `The answer of ${url} is not that of ${printable(run.data.service)}. A proxy may have changed it; nothing was changed.`,
    );
  if (read.active_period !== null) return;
  // A gateway that needs no plan refuses this empty request as invalid; elsewhere the plan is missed first.
  const trial = request('POST', '/v1/chat/completions', '{}');
  if (!trial.failure && trial.status === 400) return;
  const message = trial.failure ? '' : errorMessage(trial).replace(/\. .*$|\.$/, '');
  const since = message && message !== 'No active plan' ? `: ${message}` : '';
  const renewal = /^https?:\/\/[!-~]+$/.test(read.renew_url) ? read.renew_url : `${run.data.baseUrl}/buy`;
  throw new Stop(`The key ${run.keyHint} has no active plan${since}. Choose one at ${renewal}, then run this again.`);
}

/** The model that the user names may be missing from the models of this key. */
export function checkModelOfKey() {
  const { model } = run.options;
  if (!model) return;
  const answer = request('GET', '/v1/models');
  if (answer.failure || answer.status !== 200 || answer.body.includes(`"${model}"`)) return;
  throw new Stop(
    `Your key cannot use the model "${model}". Nothing was changed; choose another one with ${option('model')}.`,
  );
}
