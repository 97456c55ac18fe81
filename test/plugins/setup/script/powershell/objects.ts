import { openSync, closeSync, unlinkSync } from 'node:fs';
import type { Machine } from './machine.ts';
import { Exception, isArray, NetObject, Table, throwNet, toText, type Value } from './values.ts';

/** `New-Object TYPE ARGUMENTS` */
export function construct(machine: Machine, type: string, args: readonly Value[]): Value {
  const text = () => toText(args[0]);
  switch (type.toLowerCase()) {
    case 'invalidoperationexception':
    case 'timeoutexception':
      return new Exception(type, text());
    case 'text.utf8encoding':
      return encoding('utf8');
    case 'collections.hashtable':
      return new Table('hashtable', true);
    case 'object[]':
    case 'int[]':
      return Array.from({ length: Number(args[0]) }, () => (type === 'int[]' ? 0 : null));
    case 'byte[]':
      return new Uint8Array(Number(args[0]));
    case 'collections.generic.list[string]': {
      const items: Value[] = [];
      return new NetObject(type, { Add: (item: Value) => void items.push(toText(item)), ToArray: () => items });
    }
    case 'net.networkcredential':
      return new NetObject(type, { Password: (args[1] as NetObject).members['text'] });
    case 'io.memorystream':
      return memoryStream(args[0]);
    case 'io.streamreader': {
      const bytes = ((args[0] as NetObject).members['ToArray'] as () => Uint8Array)();
      const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
      return new NetObject(type, { ReadToEnd: () => new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(bytes) });
    }
    case 'io.filestream':
      return lockFile(machine, text());
    case 'diagnostics.processstartinfo':
      return new NetObject(type, { FileName: text(), Arguments: toText(args[1]) });
    default:
      throw new Error(`no New-Object ${type}`);
  }
}

export function encoding(name: 'utf8' | 'latin1'): NetObject {
  return new NetObject('Encoding', {
    GetString: (bytes: Value) =>
      name === 'utf8'
        ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(toBytes(bytes))
        : Buffer.from(toBytes(bytes)).toString('latin1'),
    GetBytes: (text: Value) => new Uint8Array(Buffer.from(toText(text), name)),
  });
}

export const toBytes = (value: Value): Uint8Array => {
  if (!isArray(value)) throw new Error('no array of bytes');
  return value instanceof Uint8Array ? value : Uint8Array.from(value.map(Number));
};

export function memoryStream(given?: Value): NetObject {
  let content = given === undefined ? Buffer.alloc(0) : Buffer.from(toBytes(given));
  const members: Record<string, Value> = {
    Write: (bytes: Value, start: Value, count: Value) => {
      content = Buffer.concat([content, toBytes(bytes).subarray(Number(start), Number(start) + Number(count))]);
      members['Length'] = content.length;
    },
    CopyTo: (other: Value) =>
      ((other as NetObject).members['Write'] as (...args: Value[]) => void)(new Uint8Array(content), 0, content.length),
    ToArray: () => new Uint8Array(content),
    Dispose: () => {},
    Length: content.length,
  };
  return new NetObject('IO.MemoryStream', members);
}

/** A file that is open for this process alone, and deleted when it is closed. */
function lockFile(machine: Machine, path: string): NetObject {
  if (machine.held.has(path))
    throwNet('IO.IOException', 'The process cannot access the file because it is used by another process.');
  machine.held.add(path);
  closeSync(openSync(machine.real(path), 'a'));
  return new NetObject('IO.FileStream', {
    Dispose: () => {
      if (machine.held.delete(path)) unlinkSync(machine.real(path));
    },
  });
}
