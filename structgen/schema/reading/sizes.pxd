from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.arrays cimport ArraySet
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.reading.emptiness cimport object_holds
