import type { Answer, Machine } from './machine.ts';
import { memoryStream } from './objects.ts';
import { Exception, NetObject, Table, Thrown, type Method, toText, type Value } from './values.ts';

/** A request whose answer is there at once. As in .NET, an error status is an exception that has the response. */
export function createRequest(machine: Machine, url: string): NetObject {
  const body = memoryStream();
  const headers = new Table('hashtable');
  const send = () => {
    const { pathname, search } = new URL(url);
    const sent = (body.members['ToArray'] as () => Uint8Array)();
    const answer = machine.answer({
      method: toText(request.members['Method']),
      path: pathname + search,
      authorization: toText(headers.get('Authorization')),
      body: new TextDecoder().decode(sent),
    });
    const response = responseOf(answer);
    if (answer.status < 300) return taskOf(response);
    return failed(
      new Exception('Net.WebException', `(${answer.status})`, null, { Response: response, Status: 'ProtocolError' }),
    );
  };
  const request = new NetObject('HttpWebRequest', {
    Method: 'GET',
    Headers: headers,
    GetRequestStreamAsync: () => taskOf(body),
    GetResponseAsync: send,
    Abort: () => {},
  });
  return request;
}

const taskOf = (result: Value): NetObject => new NetObject('Task', { Wait: () => true, Result: result });

function failed(inner: Exception): NetObject {
  return new NetObject('Task', {
    Wait: () => {
      throw new Thrown(new Exception('AggregateException', 'One or more errors occurred.', inner));
    },
  });
}

function responseOf({ status, body }: Answer): NetObject {
  let rest = Buffer.from(body);
  const read: Method = (buffer) => {
    const part = rest.subarray(0, (buffer as Uint8Array).length);
    (buffer as Uint8Array).set(part);
    rest = rest.subarray(part.length);
    return taskOf(part.length);
  };
  return new NetObject('HttpWebResponse', {
    StatusCode: status,
    Headers: new Table('hashtable'),
    GetResponseStream: () => new NetObject('Stream', { ReadAsync: read, Dispose: () => {} }),
    Close: () => {},
  });
}
