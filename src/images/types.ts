/** What goes out of the image layer: plain pixels for rasters, coded data for PDF. */

/** Pixels in rows from the top, four bytes each: red, green, blue, alpha (not multiplied into the colours). */
export interface DecodedImage {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly rgba: Uint8Array;
  /** Whether any pixel is less than opaque. */
  readonly hasAlpha: boolean;
  /** The file ends early or is damaged: what is missing is clear (white, black) in the pixels. */
  readonly isPartial: boolean;
}

export interface ImageLimits {
  /** Most pixels that may be decoded; checked from the header before any decoding. */
  readonly maxPixels: number;
}

/** 10⁸ pixels: 400 MB of RGBA (spec 8.3). */
export const DEFAULT_IMAGE_LIMITS: ImageLimits = { maxPixels: 100_000_000 };

/** RGB triples, `palette.length / 3` colours. */
export interface IndexedColors {
  readonly palette: Uint8Array;
}

/** Values for a PDF `DecodeParms` dictionary; the names are PDF's. */
export type DecodeParameters = Readonly<Record<string, number | boolean>>;

/** Everything that the dictionary and the data of a PDF image XObject need. */
export interface PdfImageData {
  readonly filter: 'DCTDecode' | 'FlateDecode' | 'JBIG2Decode' | 'CCITTFaxDecode' | 'JPXDecode';
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly bitsPerComponent: number;
  readonly colorSpace: 'DeviceGray' | 'DeviceRGB' | 'DeviceCMYK' | IndexedColors;
  /** The `Decode` array, where it is not the default of the colour space. */
  readonly decode?: readonly number[];
  readonly decodeParms?: DecodeParameters;
  /** Opacity of a picture that is not opaque everywhere: DeviceGray, without a mask of its own. */
  readonly softMask?: PdfImageData;
  /** Only a part of the picture could be decoded. */
  readonly isPartial?: true;
}
