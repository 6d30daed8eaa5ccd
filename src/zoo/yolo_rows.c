/* The tables of layers of YOLOv5, YOLOv8 and YOLO11 and their sizes, as published by Ultralytics (AGPL-3.0; the
 * tables are restated here, nothing of their code).
 *
 * Published parameters and FLOPs are of the fused model (`fused=true`: normalisations in the
 * convolutions); FLOPs are twice the multiply-accumulates of convolutions and linear layers.
 */
#include "zoo/yolo.h"

#define V5_FIRST                                                                 \
    "[[-1,1,\"Conv\",[64,6,2,2]],[-1,1,\"Conv\",[128,3,2]],[-1,3,\"C3\",[128]]," \
    "[-1,1,\"Conv\",[256,3,2]],[-1,6,\"C3\",[256]],[-1,1,\"Conv\",[512,3,2]],"   \
    "[-1,9,\"C3\",[512]],"
#define V5_BODY V5_FIRST "[-1,1,\"Conv\",[1024,3,2]],[-1,3,\"C3\",[1024]]"
#define V5_BODY_P6                                                                       \
    V5_FIRST "[-1,1,\"Conv\",[768,3,2]],[-1,3,\"C3\",[768]],[-1,1,\"Conv\",[1024,3,2]]," \
             "[-1,3,\"C3\",[1024]],[-1,1,\"SPPF\",[1024,5]]]"
#define UP "[-1,1,\"nn.Upsample\",[null,2,\"nearest\"]],"
#define V5_NECK                                                                             \
    "[[-1,1,\"Conv\",[512,1,1]]," UP "[[-1,6],1,\"Concat\",[1]],[-1,3,\"C3\",[512,false]]," \
    "[-1,1,\"Conv\",[256,1,1]]," UP "[[-1,4],1,\"Concat\",[1]],[-1,3,\"C3\",[256,false]],"  \
    "[-1,1,\"Conv\",[256,3,2]],[[-1,14],1,\"Concat\",[1]],[-1,3,\"C3\",[512,false]],"       \
    "[-1,1,\"Conv\",[512,3,2]],[[-1,10],1,\"Concat\",[1]],[-1,3,\"C3\",[1024,false]],"
#define V5_NECK_P6                                                                          \
    "[[-1,1,\"Conv\",[768,1,1]]," UP "[[-1,8],1,\"Concat\",[1]],[-1,3,\"C3\",[768,false]]," \
    "[-1,1,\"Conv\",[512,1,1]]," UP "[[-1,6],1,\"Concat\",[1]],[-1,3,\"C3\",[512,false]],"  \
    "[-1,1,\"Conv\",[256,1,1]]," UP "[[-1,4],1,\"Concat\",[1]],[-1,3,\"C3\",[256,false]],"  \
    "[-1,1,\"Conv\",[256,3,2]],[[-1,20],1,\"Concat\",[1]],[-1,3,\"C3\",[512,false]],"       \
    "[-1,1,\"Conv\",[512,3,2]],[[-1,16],1,\"Concat\",[1]],[-1,3,\"C3\",[768,false]],"       \
    "[-1,1,\"Conv\",[768,3,2]],[[-1,12],1,\"Concat\",[1]],[-1,3,\"C3\",[1024,false]],"
#define V5_ANCHORS "[[10,13,16,30,33,23],[30,61,62,45,59,119],[116,90,156,198,373,326]]"
#define V5_ANCHORS_P6                                                        \
    "[[19,27,44,40,38,94],[96,68,86,152,180,137],[140,301,303,264,238,542]," \
    "[436,615,739,380,925,792]]"

#define V8_BODY                                                                      \
    "[[-1,1,\"Conv\",[64,3,2]],[-1,1,\"Conv\",[128,3,2]],[-1,3,\"C2f\",[128,true]]," \
    "[-1,1,\"Conv\",[256,3,2]],[-1,6,\"C2f\",[256,true]],[-1,1,\"Conv\",[512,3,2]]," \
    "[-1,6,\"C2f\",[512,true]],[-1,1,\"Conv\",[1024,3,2]],[-1,3,\"C2f\",[1024,true]]"
#define V8_NECK                                                                  \
    "[" UP "[[-1,6],1,\"Concat\",[1]],[-1,3,\"C2f\",[512]]," UP                  \
    "[[-1,4],1,\"Concat\",[1]],[-1,3,\"C2f\",[256]],"                            \
    "[-1,1,\"Conv\",[256,3,2]],[[-1,12],1,\"Concat\",[1]],[-1,3,\"C2f\",[512]]," \
    "[-1,1,\"Conv\",[512,3,2]],[[-1,9],1,\"Concat\",[1]],[-1,3,\"C2f\",[1024]],"
#define SPPF ",[-1,1,\"SPPF\",[1024,5]]"

#define Y11_BODY                                                                            \
    "[[-1,1,\"Conv\",[64,3,2]],[-1,1,\"Conv\",[128,3,2]],[-1,2,\"C3k2\",[256,false,0.25]]," \
    "[-1,1,\"Conv\",[256,3,2]],[-1,2,\"C3k2\",[512,false,0.25]],[-1,1,\"Conv\",[512,3,2]]," \
    "[-1,2,\"C3k2\",[512,true]],[-1,1,\"Conv\",[1024,3,2]],[-1,2,\"C3k2\",[1024,true]]"
#define PSA ",[-1,2,\"C2PSA\",[1024]]]"
#define Y11_NECK                                                                        \
    "[" UP "[[-1,6],1,\"Concat\",[1]],[-1,2,\"C3k2\",[512,false]]," UP                  \
    "[[-1,4],1,\"Concat\",[1]],[-1,2,\"C3k2\",[256,false]],"                            \
    "[-1,1,\"Conv\",[256,3,2]],[[-1,13],1,\"Concat\",[1]],[-1,2,\"C3k2\",[512,false]]," \
    "[-1,1,\"Conv\",[512,3,2]],[[-1,10],1,\"Concat\",[1]],[-1,2,\"C3k2\",[1024,true]],"

#define HEAD(from, module, args) "[[" from "],1,\"" module "\",[" args "]]]"
#define CLASSIFY                 "[[-1,1,\"Classify\",[\"nc\"]]]"

static const yolo_table tables[] = {
    {"yolov5", V5_BODY SPPF "]", V5_NECK HEAD("17,20,23", "Detect", "\"nc\",\"anchors\""),
     V5_ANCHORS},
    {"yolov5-seg", V5_BODY SPPF "]",
     V5_NECK HEAD("17,20,23", "Segment", "\"nc\",\"anchors\",32,256"), V5_ANCHORS},
    {"yolov5-cls", V5_BODY "]", CLASSIFY, NULL},
    {"yolov5-p6", V5_BODY_P6, V5_NECK_P6 HEAD("23,26,29,32", "Detect", "\"nc\",\"anchors\""),
     V5_ANCHORS_P6},
    {"yolov5u", V5_BODY SPPF "]", V5_NECK HEAD("17,20,23", "Detect", "\"nc\""), NULL},
    {"yolov5u-p6", V5_BODY_P6, V5_NECK_P6 HEAD("23,26,29,32", "Detect", "\"nc\""), NULL},
    {"yolov8", V8_BODY SPPF "]", V8_NECK HEAD("15,18,21", "Detect", "\"nc\""), NULL},
    {"yolov8-seg", V8_BODY SPPF "]", V8_NECK HEAD("15,18,21", "Segment", "\"nc\",32,256"), NULL},
    {"yolov8-pose", V8_BODY SPPF "]", V8_NECK HEAD("15,18,21", "Pose", "\"nc\",\"kpt_shape\""),
     NULL},
    {"yolov8-obb", V8_BODY SPPF "]", V8_NECK HEAD("15,18,21", "OBB", "\"nc\",1"), NULL},
    {"yolov8-cls", V8_BODY "]", CLASSIFY, NULL},
    {"yolo11", Y11_BODY SPPF PSA, Y11_NECK HEAD("16,19,22", "Detect", "\"nc\""), NULL},
    {"yolo11-seg", Y11_BODY SPPF PSA, Y11_NECK HEAD("16,19,22", "Segment", "\"nc\",32,256"), NULL},
    {"yolo11-pose", Y11_BODY SPPF PSA, Y11_NECK HEAD("16,19,22", "Pose", "\"nc\",\"kpt_shape\""),
     NULL},
    {"yolo11-obb", Y11_BODY SPPF PSA, Y11_NECK HEAD("16,19,22", "OBB", "\"nc\",1"), NULL},
    {"yolo11-cls", Y11_BODY PSA, CLASSIFY, NULL},
};

const yolo_table *yolo_table_find(str name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (str_is(name, tables[i].name))
            return &tables[i];
    return NULL;
}

/* ---- sizes ---- */

#define ROW(name_, alias, family_, task_, table_, size, more) \
    ZOO_ROW(name_, alias, family_, task_, yolo_build, "table=yolo" table_ " " size more)

/* depth, width and the most channels of each size */
#define V5_N    "scale=n depth_multiple=0.33 width_multiple=0.25"
#define V5_S    "scale=s depth_multiple=0.33 width_multiple=0.5"
#define V5_M    "scale=m depth_multiple=0.67 width_multiple=0.75"
#define V5_L    "scale=l depth_multiple=1 width_multiple=1"
#define V5_X    "scale=x depth_multiple=1.33 width_multiple=1.25"
#define V8_N    "scale=n depth_multiple=0.33 width_multiple=0.25 max_channels=1024"
#define V8_S    "scale=s depth_multiple=0.33 width_multiple=0.5 max_channels=1024"
#define V8_M    "scale=m depth_multiple=0.67 width_multiple=0.75 max_channels=768"
#define V8_L    "scale=l depth_multiple=1 width_multiple=1 max_channels=512"
#define V8_X    "scale=x depth_multiple=1 width_multiple=1.25 max_channels=512"
#define V8_WIDE " max_channels=1024" /* of the classifiers */
#define Y11_N   "scale=n depth_multiple=0.5 width_multiple=0.25 max_channels=1024"
#define Y11_S   "scale=s depth_multiple=0.5 width_multiple=0.5 max_channels=1024"
#define Y11_M   "scale=m depth_multiple=0.5 width_multiple=1 max_channels=512"
#define Y11_L   "scale=l depth_multiple=1 width_multiple=1 max_channels=512"
#define Y11_X   "scale=x depth_multiple=1 width_multiple=1.5 max_channels=512"

/* One row per size; `before` and `after` the letter make the name. */
#define SIZES(before, after, alias_, family_, task_, table_, S, more)            \
    ROW(before "n" after, alias_("n"), family_, task_, table_, S##_N, more),     \
        ROW(before "s" after, alias_("s"), family_, task_, table_, S##_S, more), \
        ROW(before "m" after, alias_("m"), family_, task_, table_, S##_M, more), \
        ROW(before "l" after, alias_("l"), family_, task_, table_, S##_L, more), \
        ROW(before "x" after, alias_("x"), family_, task_, table_, S##_X, more)
#define NO_ALIAS(letter)      NULL
#define V11(letter)           "yolov11" letter
#define V11_OF(letter, after) "yolov11" letter after
#define V11_SEG(letter)       V11_OF(letter, "-seg")
#define V11_CLS(letter)       V11_OF(letter, "-cls")
#define V11_POSE(letter)      V11_OF(letter, "-pose")
#define V11_OBB(letter)       V11_OF(letter, "-obb")

#define IMAGENET " num_classes=1000 image_size=224"
#define PERSON   " num_classes=1"
#define DOTA     " num_classes=15 image_size=1024"

static const zoo_row rows[] = {
    SIZES("yolov5", "", NO_ALIAS, "yolov5", "detection", "v5", V5, ""),
    SIZES("yolov5", "6", NO_ALIAS, "yolov5", "detection", "v5-p6", V5, " image_size=1280"),
    SIZES("yolov5", "-seg", NO_ALIAS, "yolov5", "segmentation", "v5-seg", V5, ""),
    SIZES("yolov5", "-cls", NO_ALIAS, "yolov5", "classification", "v5-cls", V5, IMAGENET),
    SIZES("yolov5", "u", NO_ALIAS, "yolov5", "detection", "v5u", V5, V8_WIDE),
    SIZES("yolov5", "6u", NO_ALIAS, "yolov5", "detection", "v5u-p6", V5,
          V8_WIDE " image_size=1280"),
    SIZES("yolov8", "", NO_ALIAS, "yolov8", "detection", "v8", V8, ""),
    SIZES("yolov8", "-seg", NO_ALIAS, "yolov8", "segmentation", "v8-seg", V8, ""),
    SIZES("yolov8", "-cls", NO_ALIAS, "yolov8", "classification", "v8-cls", V8, V8_WIDE IMAGENET),
    SIZES("yolov8", "-pose", NO_ALIAS, "yolov8", "pose", "v8-pose", V8, PERSON),
    SIZES("yolov8", "-obb", NO_ALIAS, "yolov8", "detection", "v8-obb", V8, DOTA),
    SIZES("yolo11", "", V11, "yolo11", "detection", "11", Y11, ""),
    SIZES("yolo11", "-seg", V11_SEG, "yolo11", "segmentation", "11-seg", Y11, ""),
    SIZES("yolo11", "-cls", V11_CLS, "yolo11", "classification", "11-cls", Y11, IMAGENET),
    SIZES("yolo11", "-pose", V11_POSE, "yolo11", "pose", "11-pose", Y11, PERSON),
    SIZES("yolo11", "-obb", V11_OBB, "yolo11", "detection", "11-obb", Y11, DOTA),
};
const zoo_rows zoo_yolo_rows = ZOO_ROWS(rows);

/* Any table of layers, as a checkpoint carries it. */
static const zoo_row families[] = {
    ZOO_ROW("yolo", NULL, "yolo", "detection", yolo_build, NULL),
};
const zoo_rows zoo_yolo_families = ZOO_ROWS(families);
