/** What /openapi.json says of POST /v1/convert: one request, three ways to send it. */
import { FORMATS, type Format } from '../formats.js';
import { AcceptedAnswer } from './answers.js';
import type { RouteDescription } from './api.js';
import { FIELDS, type Field } from './fields.js';
import { ConvertBody } from './schemas.js';

const FILE = { contentMediaType: 'application/octet-stream' };

export const CONVERT_API: RouteDescription = {
  summary: 'Convert a document: the product at once (stream), or 202 and a job (dir)',
  body: {
    'application/json': ConvertBody,
    'multipart/form-data': {
      type: 'object',
      description: 'The file beside flat fields, or beside the request as JSON without input.bytes.',
      properties: {
        file: { ...FILE, description: 'The file.' },
        request: { type: 'string', contentMediaType: 'application/json', description: 'In place of all other fields.' },
        ...Object.fromEntries(FIELDS.map((field) => [nameOf(field), fieldSchema(field)])),
      },
      additionalProperties: false,
    },
    'application/octet-stream': { ...FILE, description: 'The file itself; needs to=FORMAT in the query.' },
  },
  query: FIELDS.map((field) => ({
    name: nameOf(field),
    description: `Beside the file itself alone. ${field.description ?? ''}`.trim(),
    schema: fieldSchema(field),
  })),
  headers: {
    'Idempotency-Key': '1 to 255 characters: the same key and request find the first job. Not for streams.',
    'Content-Disposition': "Beside the file itself: its name, as filename or filename*=UTF-8''…",
  },
  answers: {
    200: {
      description: 'The product of a stream',
      mediaTypes: streamedTypes(),
      headers: {
        'Content-Disposition': 'The name of the product.',
        'X-Ofd-Job-Id': 'The id of its job.',
        'X-Ofd-Took-Ms': 'Milliseconds.',
        'X-Ofd-Warnings': 'How many warnings its job has.',
      },
    },
    202: {
      description: 'The job is safe on disk',
      schema: AcceptedAnswer,
      headers: { 'Idempotent-Replay': 'true where an earlier request with the same key made the job.' },
    },
  },
  errors: [
    'unknown_notify_target',
    'unknown_remote_target',
    'unsupported_conversion',
    'url_input_disabled',
    'url_not_allowed',
    'conflict',
    'cancelled',
    'payload_too_large',
    'conversion_failed',
    'output_too_large',
    'engine_crashed',
    'checksum_mismatch',
    'source_refused',
    'source_unreachable',
    'server_busy',
    'shutting_down',
    'unavailable',
    'insufficient_storage',
    'conversion_timeout',
  ],
};

function nameOf({ short, path }: Field): string {
  return short ?? path;
}

function fieldSchema({ type, description }: Field): object {
  const told = description !== undefined && { description };
  return type === 'list' ? { type: 'array', items: { type: 'string' }, ...told } : { type, ...told };
}

/** Of the formats that one file holds. */
function streamedTypes(): readonly string[] {
  const formats: readonly Format[] = Object.values(FORMATS);
  return formats.filter(({ paging }) => paging === 'document').map(({ mediaType }) => mediaType);
}
