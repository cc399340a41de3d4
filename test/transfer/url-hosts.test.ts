// What allow_input_url_hosts admits: as names, as addresses in a URL, as addresses that a name leads to (contract U1, U2).
import { describe, expect, it } from 'vitest';
import { admitHost, parseInputUrl, pathNameOf } from '../../src/transfer/sources/input-url.js';
import { checkUrlHost, UrlHosts } from '../../src/transfer/url-hosts.js';

describe('an entry', () => {
  it.each([
    ['files.example.com'],
    ['Files.Example.COM.'],
    ['*.example.com'],
    ['*.corp.internal'],
    ['*.a.co.uk'],
    ['例子.测试'],
    ['intranet'],
    ['10.0.0.0/8'],
    ['0.0.0.0/0'],
    ['192.168.1.10'],
    ['fd00::/8'],
    ['::1'],
  ])('%s is taken', (entry) => {
    expect(checkUrlHost(entry)).toBeUndefined();
  });

  it.each([
    ['*.com', 'too wide'],
    ['*.co.uk', 'too wide'],
    ['*.com.cn', 'too wide'],
    ['*.gov.cn', 'too wide'],
    ['*.xn--fiqs8s', 'too wide'],
    ['*.internal', 'too wide'],
    ['*.公司.cn', 'too wide'],
    ['*', 'host name'],
    ['*.', 'host name'],
    ['a.*.com', 'host name'],
    ['https://a.example', 'CIDR'],
    ['a.example:8080', 'host name'],
    ['a b', 'host name'],
    ['user@a.example', 'host name'],
    ['10.1', 'host name'],
    ['010.0.0.1', 'host name'],
    ['0x7f.0.0.1', 'host name'],
    ['2130706433', 'host name'],
    ['256.0.0.1', 'host name'],
    ['fe80::1%eth0', 'host name'],
    ['10.0.0.0/33', 'CIDR'],
    ['10/8', 'CIDR'],
    ['010.0.0.0/8', 'CIDR'],
    ['10.0.0.0/', 'CIDR'],
    ['10.0.0.0/8/8', 'CIDR'],
    ['fd00::/129', 'CIDR'],
  ])('%s is refused: %s', (entry, fault) => {
    expect(checkUrlHost(entry)).toContain(fault);
  });
});

describe('a host', () => {
  const hosts = new UrlHosts(['files.example.com', '*.Example.org.', '例子.测试', '192.0.2.0/24', 'fd00::5']);
  const admission = (url: string): string => {
    try {
      admitHost(parseInputUrl(url, 'input.url'), hosts, 'input.url');
      return 'admitted';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it.each([
    'https://files.example.com/a.ofd',
    'http://FILES.example.COM:8080/a.ofd',
    'HTTPS://files.example.com./a.ofd?b=c#d',
    'https://a.example.org/',
    'https://a.b.example.org/',
    'https://xn--fsqu00a.xn--0zwm56d/',
    'https://例子.测试/a',
    'http://192.0.2.7/',
    // The same address, written as only a browser would understand it.
    'http://3221225991/',
    'http://[fd00::5]/',
    'http://[fd00:0:0::0005]:81/',
  ])('%s is admitted', (url) => {
    expect(admission(url)).toBe('admitted');
  });

  it.each([
    'https://example.com/',
    'https://files.example.com.evil.example/',
    'https://evilfiles.example.com/',
    'https://example.org/',
    'https://evilexample.org/',
    'https://files.example.com../',
    'http://192.0.3.1/',
    'http://[::ffff:192.0.2.7]/',
    'http://[64:ff9b::192.0.2.7]/',
    'http://[2002:c000:207::]/',
    'http://[fd00::6]/',
    'http://localhost/',
  ])('%s is url_not_allowed', (url) => {
    expect(admission(url)).toBe('url_not_allowed');
  });

  it.each([
    'ftp://files.example.com/a',
    'file:///etc/passwd',
    'files.example.com/a',
    '//files.example.com/a',
    'http:/files.example.com/a',
    'http:\\\\files.example.com/a',
    'http:///files.example.com/a',
    'http://user@files.example.com/',
    'http://user:password@files.example.com/',
    'http://evil.example@files.example.com/',
    'http://files.example.com\\@evil.example/',
    'http://files.example.com:0/',
    'http://files.example.com:99999/',
    'http://files.exa%6dple.com/',
    'http://files.example.com /',
    'http://files.example.com/a b',
    'http://files.example.com/\tb',
    'http://files.example.com/a\r\nHost: evil',
    'http://files.example.com/文件.ofd',
    ' https://files.example.com/a.ofd',
    'http://[::1/',
    'http://1.2.3.4.5/',
    `http://files.example.com/${'a'.repeat(5000)}`,
    '',
  ])('%s is invalid_request', (url) => {
    expect(admission(url)).toBe('invalid_request');
  });

  it('is sent what the client wrote, byte for byte', () => {
    const target = '/a%2Fb/../%7ec;d=1/%E5%8F%91?x=%20+&y=%zz#part';
    expect(parseInputUrl(`http://files.example.com${target}`, 'url').target).toBe(target.replace('#part', ''));
    expect(parseInputUrl('http://files.example.com', 'url').target).toBe('/');
    expect(parseInputUrl('http://files.example.com?q', 'url').target).toBe('/?q');
  });

  it('gives its file a name by the path', () => {
    expect(pathNameOf('/a/%E5%8F%91%E7%A5%A8.ofd?b=/c.pdf')).toBe('发票.ofd');
    expect(pathNameOf('/a/')).toBeUndefined();
    expect(pathNameOf('/%zz.ofd')).toBe('%zz.ofd');
  });
});

describe('an address in the URL', () => {
  it.each([
    'http://127.0.0.1/',
    'HTTP://127.0.0.1/',
    'http://127.0.0.1./',
    'http://127.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0x7f.0.0.1/',
    'http://0x7f000001/',
    'http://０x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://0.0.0.0/',
    'http://0/',
    'http://169.254.169.254/latest/meta-data/',
    'http://8.8.8.8/',
  ])('%s is refused where it is not listed', (url) => {
    const hosts = new UrlHosts(['*.example.com', '203.0.113.0/24']);
    expect(() => admitHost(parseInputUrl(url, 'url'), hosts, 'url')).toThrow(/not among allow_input_url_hosts/);
  });
});

describe('an address that an allowed name leads to', () => {
  const hosts = new UrlHosts(['files.example.com']);

  it.each(['8.8.8.8', '1.1.1.1', '223.5.5.5', '2606:4700:4700::1111', '2400:3200::1'])('%s is dialled', (address) => {
    expect(hosts.allowsResolved(address)).toBe(true);
  });

  it.each([
    ['0.0.0.0', 'this network'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'carrier'],
    ['100.100.100.200', 'metadata of a cloud'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', "a platform's service"],
    ['169.254.169.254', 'metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'metadata of a cloud'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4 relay'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:8.8.8.8', 'mapped'],
    ['::ffff:127.0.0.1', 'mapped'],
    ['::127.0.0.1', 'compatible'],
    ['64:ff9b::8.8.8.8', 'NAT64'],
    ['64:ff9b:1::1', 'NAT64 of a site'],
    ['100::1', 'discarded'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'not given out'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'metadata of a cloud'],
    ['fe80::1', 'link'],
    ['fec0::1', 'site'],
    ['ff02::1', 'multicast'],
    ['fe80::1%eth0', 'with a zone'],
    ['nonsense', 'no address'],
  ])('%s (%s) is not', (address) => {
    expect(hosts.allowsResolved(address)).toBe(false);
  });

  it('is dialled wherever it lies, where a CIDR lists it', () => {
    const inside = new UrlHosts(['files.example.com', '10.0.0.0/8', '169.254.169.254', '::ffff:0:0/96']);
    for (const address of ['10.1.2.3', '169.254.169.254', '::ffff:127.0.0.1', '8.8.8.8']) {
      expect(inside.allowsResolved(address)).toBe(true);
    }
    for (const address of ['11.0.0.1', '172.16.0.1']) expect(inside.allowsLiteral(address)).toBe(false);
    expect(inside.allowsResolved('172.16.0.1')).toBe(false);
  });
});
