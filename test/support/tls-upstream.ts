import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** Self-signed, for `localhost`; worthless outside the tests. */
export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBojCCAUmgAwIBAgIUfYMmPbUfr53XWdho2IpNMYqWkggwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNRGF5cGFzcyB0ZXN0czAgFw0yNjExMjIwNDIwMThaGA8yMTI2
MTAyOTA0MjAxOFowGDEWMBQGA1UEAwwNRGF5cGFzcyB0ZXN0czBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABLhctlOKskfSPbj4mpVZPgbF2KuMOtFmEGGeGyAARki2
SoHXoow6pYfHelA/9o2nTQVKIbNoDlSOSXs0hTDwmGijbzBtMB0GA1UdDgQWBBTq
c9LMyR2WSdugAJ4uAT6rhhIcxjAfBgNVHSMEGDAWgBTqc9LMyR2WSdugAJ4uAT6r
hhIcxjAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNHADBEAiB3Tb1LynYz9YBOtxCABhofnWvXfACUz+cllEwU
60ZiDQIgMM+EUTrUqBH1+GQJzdkA5UT1YPzJ5E7ffx8wMk3Wt5U=
-----END CERTIFICATE-----
`;
export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5ltTBFL9KN4SHwdB
EAjzYR9xrZnXFtKBGW42yx/uyGyhRANCAAS4XLZTirJH0j24+JqVWT4GxdirjDrR
ZhBhnhsgAEZItkqB16KMOqWHx3pQP/aNp00FSiGzaA5Ujkl7NIUw8Jho
-----END PRIVATE KEY-----
`;

/** Returns a function that undoes it. */
export function trustTestCertificate(): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, testCertificate]);
  return () => setDefaultCACertificates(before);
}

export interface TlsRequest {
  readonly httpVersion: string; // `1.1` or `2.0`
  readonly connection: number; // from 1
}

export interface TlsUpstream extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly TlsRequest[];
}

/** Speaks HTTP/2 and HTTP/1.1 and prefers HTTP/2, as vendors' upstreams do. `answer` returns JSON, or undefined to reset the connection. */
export async function createTlsUpstream(answer: (request: number) => object | undefined): Promise<TlsUpstream> {
  const requests: TlsRequest[] = [];
  const connections = new Map<Socket, number>();
  let opened = 0;
  const options = { key: testKey, cert: testCertificate, allowHTTP1: true };
  const server = createSecureServer(options, (request, response) => {
    const { httpVersion, socket } = request;
    requests.push({ httpVersion, connection: connections.get(socket) ?? 0 });
    const value = answer(requests.length);
    request.resume().once('end', () => {
      if (value === undefined) return void socket.destroy();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    });
  });
  server.on('secureConnection', (socket) => {
    connections.set(socket, ++opened);
    socket.on('error', () => undefined).once('close', () => connections.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of connections.keys()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
