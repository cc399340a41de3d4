/** Writes DER for tests: just enough for electronic seals, in the shapes of both generations of the standard. */

export type Der = Buffer;

export function der(tag: number, ...contents: readonly Uint8Array[]): Der {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthBytes(content.length), content]);
}

/** The same with indefinite length; `tag` must be constructed. */
export function indefinite(tag: number, ...contents: readonly Uint8Array[]): Der {
  return Buffer.concat([Buffer.from([tag, 0x80]), ...contents, Buffer.from([0, 0])]);
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...items: readonly Uint8Array[]): Der => der(0x30, ...items);
export const integer = (value: number): Der => der(0x02, Buffer.from([value]));
export const octets = (bytes: Uint8Array): Der => der(0x04, bytes);
export const ia5 = (text: string): Der => der(0x16, Buffer.from(text, 'latin1'));
export const utf8 = (text: string): Der => der(0x0c, Buffer.from(text, 'utf8'));
const bits = (bytes: Uint8Array): Der => der(0x03, Buffer.from([0]), bytes);
const time = (text: string): Der => der(0x18, Buffer.from(text, 'latin1'));
const oid = (): Der => der(0x06, Buffer.from([0x2a, 0x81, 0x1c, 0xcf, 0x55, 0x01, 0x83, 0x75]));
const certificate = (): Der => octets(Buffer.from([0x30, 0x03, 0x02, 0x01, 0x05]));

export interface SealSpec {
  readonly type: string;
  readonly picture: Uint8Array;
  readonly name?: string;
  /** What the header claims; says nothing about the shape. */
  readonly version?: number;
}

function sealInfo({ type, picture, name = '测试章', version = 4 }: SealSpec, listsTypes: boolean): Der {
  const times = [time('20240101000000Z'), time('20240101000000Z'), time('20340101000000Z')];
  const list = listsTypes
    ? [integer(2), sequence(sequence(der(0x13, Buffer.from('SM3')), octets(Buffer.alloc(32))))]
    : [sequence(certificate())];
  return sequence(
    sequence(ia5('ES'), integer(version), ia5('Vendor')),
    ia5('seal-1'),
    sequence(integer(1), utf8(name), ...list, ...times),
    sequence(ia5(type), octets(picture), integer(40), integer(40)),
  );
}

/** SESeal of GB/T 38540. */
export function sealV4(spec: SealSpec): Der {
  return sequence(sealInfo(spec, true), certificate(), oid(), bits(Buffer.alloc(8)));
}

/** SES_Signature of GB/T 38540. */
export function signatureV4(spec: SealSpec): Der {
  const toSign = sequence(
    integer(4),
    sealV4(spec),
    time('20240601000000Z'),
    bits(Buffer.alloc(32)),
    ia5('/Doc_0/x.xml'),
  );
  return sequence(toSign, certificate(), oid(), bits(Buffer.alloc(64)));
}

/** SES_Signature of GM/T 0031-2014. */
export function signatureV1(spec: SealSpec): Der {
  const seal = sequence(sealInfo(spec, false), sequence(certificate(), oid(), bits(Buffer.alloc(8))));
  const toSign = sequence(
    integer(1),
    seal,
    bits(Buffer.from('20240601000000Z')),
    bits(Buffer.alloc(32)),
    ia5('/Doc_0/x.xml'),
    certificate(),
    oid(),
  );
  return sequence(toSign, bits(Buffer.alloc(64)));
}
