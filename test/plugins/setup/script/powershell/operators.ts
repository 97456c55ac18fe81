import { Exception, isArray, isTrue, NetObject, type NetType, sameText, Table, toText, type Value } from './values.ts';

/** A pattern of .NET as one of JavaScript: `\A`, `\z`, a leading `(?m)`, and `$` before a last line end. */
export function toPattern(source: string, ignoreCase: boolean, flags = ''): RegExp {
  const isMultiline = source.startsWith('(?m)');
  const text = source
    .replace(/^\(\?m\)/, '')
    .replaceAll('\\A', isMultiline ? '(?<![\\s\\S])' : '^')
    .replaceAll('\\z', '(?![\\s\\S])')
    .replaceAll(/(?<!\\)\$(?=$|[)|])/g, isMultiline ? '$' : '(?=\\n?(?![\\s\\S]))');
  return new RegExp(text, `${flags}${ignoreCase ? 'i' : ''}${isMultiline ? 'm' : ''}`);
}

const equal = (left: Value, right: Value, ignoreCase: boolean): boolean => {
  if (left === null || left === undefined) return right === null || right === undefined;
  if (typeof left === 'string')
    return right !== null && right !== undefined && sameText(left, toText(right), ignoreCase);
  if (typeof left === 'number') return left === Number(right);
  if (typeof left === 'boolean') return left === isTrue(right);
  return left === right;
};

const list = (value: Value): Value[] => (isArray(value) ? [...(value as Value[])] : [value]);

/** A comparison with a list on the left gives the elements for which it is true. */
function each(left: Value, test: (value: Value) => boolean): Value {
  return isArray(left) ? list(left).filter(test) : test(left);
}

/** In .NET, the small letter of the Kelvin sign is k. */
const matches = (text: string, pattern: string, ignoreCase: boolean): boolean =>
  toPattern(pattern, ignoreCase).test(ignoreCase ? text.replaceAll('\u212A', 'k') : text);

/** `-ceq` and the like, in lower case without the hyphen. */
export function compare(operator: string, left: Value, right: Value): Value {
  const isSensitive = /^c(?!ontains$)/.test(operator);
  const name = isSensitive ? operator.slice(1) : operator;
  const ignoreCase = !isSensitive;
  switch (name) {
    case 'eq':
      return each(left, (one) => equal(one, right, ignoreCase));
    case 'ne':
      return each(left, (one) => !equal(one, right, ignoreCase));
    case 'lt':
      return Number(left) < Number(right);
    case 'le':
      return Number(left) <= Number(right);
    case 'gt':
      return Number(left) > Number(right);
    case 'ge':
      return Number(left) >= Number(right);
    case 'match':
    case 'notmatch':
      return each(left, (one) => (name === 'match') === matches(toText(one), toText(right), ignoreCase));
    case 'contains':
      return list(left).some((one) => equal(one, right, ignoreCase));
    case 'notcontains':
      return !list(left).some((one) => equal(one, right, ignoreCase));
    case 'in':
      return list(right).some((one) => equal(one, left, ignoreCase));
    case 'split':
      return list(left).flatMap((one) => toText(one).split(toPattern(toText(right), ignoreCase)));
    case 'join':
      return left === undefined || left === null ? '' : list(left).map(toText).join(toText(right));
    case 'replace': {
      const [pattern, replacement] = list(right);
      const replaced = (one: Value) =>
        toText(one).replaceAll(toPattern(toText(pattern), ignoreCase, 'g'), toText(replacement ?? ''));
      return isArray(left) ? list(left).map(replaced) : replaced(left);
    }
    case 'is':
      return isInstance(left, right);
    case 'isnot':
      return !isInstance(left, right);
    case 'band':
      return Number(left) & Number(right);
    case 'bor':
      return typeof left === 'string' ? `${left}, ${toText(right)}` : Number(left) | Number(right);
    default:
      throw new Error(`no operator -${operator}`);
  }
}

export function isInstance(value: Value, type: Value): boolean {
  const name = (type as NetType).name.toLowerCase();
  if (name === 'string') return typeof value === 'string';
  if (value instanceof Exception) return value.types.some((one) => one.toLowerCase() === name);
  return value instanceof NetObject && value.type.toLowerCase() === name;
}

export function add(left: Value, right: Value): Value {
  if (left === null || left === undefined) return right ?? null;
  if (typeof left === 'string') return left + toText(right);
  if (isArray(left)) return [...list(left), ...(right === undefined ? [] : list(right))];
  if (typeof left === 'number') return left + Number(right);
  throw new Error(`no + for ${toText(left)} (${left instanceof Table ? left.kind : typeof left})`);
}

/** `'{0,-3}' -f values` */
export function format(template: string, values: Value): string {
  const all = list(values);
  return template.replaceAll(/\{(\d+)(?:,(-?\d+))?\}/g, (_, index: string, width = '0') => {
    const text = toText(all[Number(index)]);
    return Number(width) < 0 ? text.padEnd(-Number(width)) : text.padStart(Number(width));
  });
}
